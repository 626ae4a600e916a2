"""The eight tables of the record, in the SQL that SQLite and PostgreSQL both take.

A person is a keyed hash of a canonical phone number, and the number stands beside it. Purging and forgetting set
numbers, texts and kept columns to NULL and leave the hashes: limits on messages, opt-outs and costs stay true.
Times are microseconds since 1970, money is millionths of the currency unit.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "15"
APPLICATION_ID: Final = 0x534D534F  # "SMSO": SQLite's mark of whose file it is
# A row's state, in the order of ``results.STATES``.
PLANNED, SENDING, ACCEPTED, REJECTED, IN_DOUBT, SKIPPED = range(6)
MAY_HAVE_LEFT: Final = (SENDING, ACCEPTED, IN_DOUBT)
LIVE: Final = "live"  # the realm of every account that texts people
# Kinds of campaigns.
CAMPAIGN, TEST, PASSCODE = "campaign", "test", "passcode"
OPTED_OUT, WITHDRAWN = "OPTED_OUT", "WITHDRAWN"  # the problems of rows that are skipped for good

TABLES: Final = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY,       -- version, id, secret, place (of a server), moved_to (of a file), retention
  value TEXT NOT NULL
);

CREATE TABLE campaign (       -- what is sent under one name; each test and each passcode is one of its own
  id {identity},
  realm TEXT NOT NULL,        -- 'live' or a sandbox's id: a new access key must not text everybody again
  name TEXT NOT NULL,         -- as it was written
  name_key TEXT NOT NULL,     -- what makes two names one campaign
  kind TEXT NOT NULL,         -- campaign, test or passcode: limits on messages count campaigns alone
  service TEXT NOT NULL,      -- the account that recorded it; each attempt has its own
  fingerprint TEXT NOT NULL,  -- of the plan in force: the same plan goes on without a comparison
  created_at BIGINT NOT NULL,
  kept TEXT NOT NULL,         -- the names of the caller's columns, a JSON list
  skipped TEXT NOT NULL,      -- how many rows of the list the plan left out, by problem: a JSON object
  withdrawn BIGINT NOT NULL DEFAULT 0,  -- 1: what is not sent after all is skipped
  purged BIGINT NOT NULL DEFAULT 0,     -- 1: nobody knows any more who it was
  runner TEXT,                -- the token of the run that holds the campaign: the lease
  who TEXT,                   -- the run in words, for the one that is refused
  process TEXT,               -- the run's process, by which this machine knows that it is dead
  until BIGINT                -- when another machine may take over
);
CREATE UNIQUE INDEX campaign_name ON campaign (realm, name_key) WHERE kind = 'campaign';

CREATE TABLE recipient (      -- a person of a campaign; who is left out by the plan is counted only
  campaign BIGINT NOT NULL,
  chunk BIGINT NOT NULL,      -- the request that the row is planned for: rows of a claim lie together
  person BIGINT NOT NULL,     -- keyed hash of the number that rings the person's phone
  number BIGINT,              -- E.164 without its plus; NULL: purged or forgotten
  position BIGINT NOT NULL,   -- place in the plan's rows
  list_row BIGINT,            -- row number of the list, as a spreadsheet shows it
  body BIGINT NOT NULL,       -- keyed hash of the filled text: the same words are known after a purge
  message BIGINT NOT NULL,    -- number of the text before it was filled
  region TEXT,                -- country and kind of the number, as read before sending
  type TEXT,
  encoding TEXT,
  est_parts BIGINT,
  est_micros BIGINT,
  est_currency TEXT,
  kept TEXT,                  -- the caller's columns, a JSON list; NULL: none, purged or forgotten
  state BIGINT NOT NULL,
  problem TEXT,               -- what holds the row back, or held it back for good
  not_before BIGINT,          -- when a row may go that a limit on messages holds back
  attempt BIGINT,             -- its latest request
  attempts BIGINT NOT NULL DEFAULT 0,
  not_accepted BIGINT NOT NULL DEFAULT 0,  -- how often a person found that the message was not accepted
  id TEXT,                    -- what the service billed
  iso TEXT,
  cc TEXT,
  parts BIGINT,
  micros BIGINT,
  currency TEXT,
  PRIMARY KEY (campaign, chunk, person)
){clustered};
CREATE UNIQUE INDEX recipient_person  -- nobody twice, whatever the code does
ON recipient (person, campaign);

CREATE TABLE message (        -- a text of a campaign before its placeholders are filled
  campaign BIGINT NOT NULL,
  number BIGINT NOT NULL,
  version BIGINT NOT NULL,    -- 1, and one more with each correction
  key BIGINT NOT NULL,        -- keyed hash of what follows, also where the words may not be kept
  segment TEXT,
  text TEXT,
  since BIGINT NOT NULL,
  reason TEXT,                -- of the correction
  PRIMARY KEY (campaign, number)
);

CREATE TABLE attempt (        -- a request: on the disk before its first byte
  id {identity},
  campaign BIGINT NOT NULL,
  chunk BIGINT NOT NULL,
  service TEXT NOT NULL,      -- the account
  started_at BIGINT NOT NULL,
  settled_at BIGINT,
  outcome TEXT,               -- NULL: under way, or its process died
  phase TEXT,                 -- how far it was: what is unknown after the first byte is in doubt
  http_status BIGINT,
  error_code TEXT,
  error TEXT,
  request_id TEXT,
  milliseconds BIGINT,
  currency TEXT,              -- the reply's own totals, compared with its records
  recipients BIGINT,
  message_count BIGINT,
  total BIGINT,
  disagreement TEXT
);
CREATE INDEX attempt_campaign ON attempt (campaign);

CREATE TABLE consent (        -- what people said about being texted
  id {identity},
  person BIGINT NOT NULL,
  number BIGINT,              -- NULL: forgotten
  opted_out BIGINT NOT NULL,
  at BIGINT NOT NULL,
  zone BIGINT NOT NULL,       -- minutes east of UTC where it was said
  recorded_at BIGINT NOT NULL,
  source TEXT NOT NULL,
  proof TEXT
);
CREATE UNIQUE INDEX consent_entry  -- a list may be imported again
ON consent (person, at, opted_out, source);

CREATE TABLE opted_out (      -- who is opted out now: what each claim asks
  person BIGINT PRIMARY KEY
);

CREATE TABLE event (          -- a decision, in the transaction of what it changes
  id {identity},
  at BIGINT NOT NULL,
  who TEXT NOT NULL,          -- user and machine; on a server, after the name by which it let them in
  what TEXT NOT NULL,
  campaign BIGINT,
  rows BIGINT NOT NULL,       -- how many recipients or people it was about
  reason TEXT,
  replaced TEXT               -- the fingerprint of the plan that was in force before
);
CREATE INDEX event_campaign ON event (campaign);
"""
NAMES: Final = ("meta", "campaign", "recipient", "message", "attempt", "consent", "opted_out", "event")
WITH_IDENTITY: Final = ("campaign", "attempt", "consent", "event")
