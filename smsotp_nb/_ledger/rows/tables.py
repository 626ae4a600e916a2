"""The tables of the ledger: what is stored of a row, and where.

Rows are compact (about 60 MB for a million recipients): money in micro-units, numbers as integers, and values that
repeat (where a number is, which country the service named) are stored once and referred to.

**Two places.** A chunk whose rows all leave in one request is kept as one row (``chunk.state``, ``chunk.attempt``) as
long as all its recipients have the same state: ``sending`` from the intent on, ``accepted`` once the reply has a
complete record of each. Neither the intent nor the answer touches the rows of the recipients: their ``own_state`` is
still ``planned``, and ids and prices are stored with the request (``attempt.ids`` and ``attempt.kinds``, read by
``answers`` and ``columns``). As soon as one of them needs another state (a record is missing, the request was refused
or is in doubt, a person decided something), `spread` gives every recipient a state of its own, in the same
transaction, and ``chunk.state`` is NULL from then on.

**One reader.** The view ``fate`` gives state, problem, attempts and latest attempt of each recipient, wherever they
are stored. SQL that needs a state reads ``fate``; SQL that changes one calls `spread` first, or changes whole chunks.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from ..._results.contract import STATES
from .statements import ANY, Guess, Statements, guessed

VERSION = 14  # nobody has a file of an earlier one: they are refused
APPLICATION_ID = 0x534D534F  # "SMSO": tells a ledger from any other SQLite file
PLANNED, SENDING, ACCEPTED, REJECTED, IN_DOUBT, SKIPPED = range(len(STATES))
OPTED_OUT = "OPTED_OUT"  # the problem of a row whose person said no
MAY_HAVE_LEFT = (SENDING, ACCEPTED, IN_DOUBT)  # a contact: the person may have been texted

TABLES = """
CREATE TABLE ledger (            -- one row: which ledger this is, wherever it stands
  id BLOB NOT NULL,
  secret BLOB NOT NULL,          -- of the hashes that stand for people who were forgotten, see people
  remains INTEGER NOT NULL DEFAULT 0,  -- 1: what was deleted is still in the bytes of the file, see purging
  retention TEXT,                -- how long campaigns are kept, where somebody decided that
  approval INTEGER NOT NULL DEFAULT 0, -- 1: a second person approves each campaign, see approving
  moved TEXT                     -- JSON: into which ledger on a server it went, see opening; NULL: it is in use here
);

CREATE TABLE copy (              -- files that were made of the ledger, which no deletion reaches
  path TEXT NOT NULL,
  who TEXT NOT NULL,             -- user and machine: a path means another place on each
  what TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (path, who)
) WITHOUT ROWID;

CREATE TABLE session (           -- one process that wrote, from its first transaction to its closing; see marks
  id INTEGER PRIMARY KEY,
  token BLOB NOT NULL UNIQUE,
  started_at INTEGER NOT NULL,
  acts INTEGER NOT NULL DEFAULT 0,  -- durable transactions other than requests
  upto INTEGER NOT NULL DEFAULT 0   -- its latest request among those that were purged
);

CREATE TABLE owner (             -- which live service a campaign's name belongs to, from its first request on
  name_key TEXT PRIMARY KEY,
  service TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  service TEXT NOT NULL,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,        -- the name without what people do not see as a difference, see names
  kind TEXT NOT NULL,            -- 'campaign', or 'test' for a message to oneself
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,   -- microseconds since 1970, UTC
  rows INTEGER NOT NULL,
  kept TEXT NOT NULL,            -- JSON list: names of the caller's own columns
  author TEXT NOT NULL DEFAULT '', -- who recorded it, or changed words or recipients last; of passcodes nobody
  purged INTEGER NOT NULL DEFAULT 0,
  withdrawn INTEGER NOT NULL DEFAULT 0  -- chunks below it were withdrawn: what comes back of them is not sent again
);
CREATE UNIQUE INDEX campaign_name ON campaign (service, name_key) WHERE kind = 'campaign';

CREATE TABLE chunk (             -- rows of one request: one body, so one encoding and one estimate of parts
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  body INTEGER NOT NULL,         -- the body's key
  est_parts INTEGER,
  encoding TEXT,
  state INTEGER,                 -- sending or accepted: of all its rows, as a whole; NULL: each has its own
  attempt INTEGER,               -- NULL where state is
  measure INTEGER,               -- how its body reads and packs
  PRIMARY KEY (campaign, chunk)
) WITHOUT ROWID;

CREATE TABLE wording (           -- what a campaign says, before its placeholders are filled; see wordings
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  version INTEGER NOT NULL,      -- of the campaign in which it stood first: 1, and one more with each correction
  segment TEXT,                  -- whose message it is; NULL: everybody's
  key INTEGER NOT NULL,          -- a hash of all this, which stays where the words are not kept
  template TEXT,                 -- the id of the service's template; NULL: none
  text TEXT,                     -- as people read it, with its signature; NULL: not kept, or a template's, not known
  variables TEXT                 -- JSON list: the caller's columns that fill it; NULL: not kept
);
CREATE INDEX wording_campaign ON wording (campaign);

CREATE TABLE measure (           -- how bodies of a wording pack: one row for all that pack alike
  id INTEGER PRIMARY KEY,
  wording INTEGER NOT NULL,
  parts INTEGER,                 -- NULL: of a template whose text is not known
  plain_parts INTEGER,           -- with plain characters instead
  gsm_parts INTEGER,             -- if no character forced ucs2
  forcing TEXT                   -- JSON: the characters that force ucs2 by the column they come from, "" for the text
);
CREATE INDEX measure_wording ON measure (wording);

CREATE TABLE recipient (
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,        -- -1: left out of the plan
  position INTEGER NOT NULL,     -- row of the caller's frame
  list_row INTEGER,              -- its number as a spreadsheet shows it
  number INTEGER,                -- E.164 without its plus; negative: the hash of somebody who was forgotten
  destination INTEGER NOT NULL,
  kept TEXT,                     -- JSON list of the caller's own columns
  own_state INTEGER NOT NULL,    -- not looked at while its chunk has a state
  problem TEXT,
  attempts INTEGER NOT NULL,
  attempt INTEGER,               -- the latest one
  message,                       -- the service's id: 16 bytes, or text where it is not 32 hexadecimal characters
  country INTEGER,
  parts INTEGER,
  price INTEGER,                 -- micro-units
  not_before INTEGER,            -- of a row that a rule holds back: when it may go, microseconds since 1970
  PRIMARY KEY (campaign, chunk, position)
) WITHOUT ROWID;

CREATE TABLE destination (       -- our reading before sending; rate in micro-units a part
  id INTEGER PRIMARY KEY, region TEXT, type TEXT, rate INTEGER, currency TEXT
);

CREATE TABLE country (           -- as the service said when it billed a message
  id INTEGER PRIMARY KEY, iso TEXT, cc TEXT
);

CREATE TABLE attempt (           -- one intent: committed before the first byte of its request
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  session INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  settled_at INTEGER,
  outcome TEXT,                  -- NULL while in flight
  phase TEXT,
  http_status INTEGER,
  error_code TEXT,
  error TEXT,
  request_id TEXT,
  seconds REAL,
  currency TEXT,
  recipients INTEGER,            -- the reply's own totals, for reconciliation
  message_count INTEGER,
  total INTEGER,
  disagreement TEXT,
  ids BLOB,                      -- the answers of a chunk that was accepted as a whole, see answers.Whole
  kinds BLOB
);
CREATE INDEX attempt_campaign ON attempt (campaign);

CREATE TABLE billing (           -- what messages of a campaign were billed as, for chunks that are kept whole
  campaign INTEGER NOT NULL, id INTEGER NOT NULL, country INTEGER NOT NULL, parts INTEGER NOT NULL,
  price INTEGER NOT NULL, PRIMARY KEY (campaign, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX billing_kind ON billing (campaign, country, parts, price);

CREATE TABLE change (            -- what a person changed of a campaign after it was recorded
  id INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,            -- corrected, extended, suppressed, withdrawn; of rows: found (not) accepted, to retry
  rows INTEGER NOT NULL,
  reason TEXT,
  replaced TEXT,                 -- the fingerprint of the plan that no longer holds
  evidence TEXT                  -- JSON: the lines of an invoice that rows were found accepted by, see evidence
);
CREATE INDEX change_campaign ON change (campaign);

CREATE TABLE approval (          -- who approved which plan of a campaign, see approving
  campaign INTEGER NOT NULL,
  revision INTEGER NOT NULL,     -- how often it had been corrected or extended
  who TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (campaign, revision, who)
) WITHOUT ROWID;

CREATE TABLE decision (          -- what people decided; no purge touches it but its reasons, see audit
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,             -- user and machine; on a server also the name by which it let them in
  what TEXT NOT NULL,
  campaign INTEGER,              -- NULL: of no campaign
  rows INTEGER NOT NULL,
  reason TEXT
);

CREATE TABLE consent (           -- what people said, in the order in which it was recorded; no purge touches it
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice: a campaign that runs reads on from the latest it knows
  person INTEGER NOT NULL,       -- see people
  opted_out INTEGER NOT NULL,    -- 1: does not want to be texted; 0: does
  at INTEGER NOT NULL,           -- when it was said, microseconds since 1970
  zone INTEGER NOT NULL,         -- minutes east of UTC where it was said
  recorded_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  proof TEXT
);
CREATE UNIQUE INDEX consent_said ON consent (person, at, opted_out, source);

CREATE TABLE opted_out (         -- who does not want to be texted, as the latest consents say
  person INTEGER PRIMARY KEY
);

CREATE TABLE experiment (        -- as it was declared when its arms were first drawn
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL UNIQUE, -- its campaigns are called so, or so with a slash and more, see holdouts
  declared TEXT NOT NULL,        -- JSON: arms and their shares, holdout, unit, strata, seed, outcomes, window
  created_at INTEGER NOT NULL,   -- microseconds since 1970, UTC
  until INTEGER,                 -- until then its holdout holds for every campaign; NULL: for its own only
  drawn INTEGER NOT NULL,        -- how often people were added to it: a campaign that runs looks again
  purged INTEGER NOT NULL DEFAULT 0  -- 1: its people are hashes, with neither unit nor stratum
);

CREATE TABLE assigned (          -- who is in which arm of an experiment
  experiment INTEGER NOT NULL,
  person INTEGER NOT NULL,       -- see people
  unit TEXT,                     -- what outcomes are counted by; NULL of a hash
  arm INTEGER NOT NULL,          -- 0: held out, else the number of the arm
  place INTEGER NOT NULL,        -- in the order of the list, so that neighbours are known
  stratum TEXT,                  -- JSON list
  at INTEGER NOT NULL,           -- when it was drawn
  PRIMARY KEY (experiment, person)
) WITHOUT ROWID;
CREATE INDEX assigned_held_out ON assigned (experiment, person) WHERE arm = 0;

CREATE TABLE contacts (          -- whom a campaign may have reached, packed; absent while it runs, see contacts
  campaign INTEGER PRIMARY KEY,
  latest INTEGER NOT NULL,       -- its latest contact, microseconds since 1970
  people BLOB NOT NULL,
  at BLOB NOT NULL,
  body BLOB NOT NULL
);

CREATE TABLE sums (              -- what a campaign was billed, packed; absent while it runs, see sums
  campaign INTEGER PRIMARY KEY,
  currencies TEXT NOT NULL,      -- JSON list
  sums BLOB NOT NULL,
  shared TEXT NOT NULL,          -- JSON list: names of kept columns that many rows share, then their combinations
  by_shared BLOB NOT NULL,       -- the sums by these as well
  refused TEXT NOT NULL          -- JSON list, of a purged campaign alone, see refusals
);

-- what is true of each row, wherever it stands; the answers of a chunk that is kept whole SQL does not take apart
CREATE VIEW fate AS
SELECT r.campaign, r.chunk, r.position, r.list_row, r.number, r.destination, c.body, c.est_parts, c.encoding,
  coalesce(c.state, r.own_state) AS state, CASE WHEN c.state IS NULL THEN r.problem END AS problem,
  r.attempts + CASE WHEN c.state IS NULL THEN 0 ELSE 1 END AS attempts, coalesce(c.attempt, r.attempt) AS attempt,
  r.message, r.country, r.parts, r.price, CASE WHEN c.state IS NULL THEN r.not_before END AS not_before
FROM recipient r LEFT JOIN chunk c ON c.campaign=r.campaign AND c.chunk=r.chunk;
"""


def spread(connection: Statements, campaign: int, chunk: int, attempt: int, *, usually: Guess = ANY) -> None:
    """Give every row of a chunk that is being sent as a whole, by this attempt, a state of its own: ``sending``.

    The caller then records what became of each. ``usually`` says what becomes of the chunk's own row, if that is known.
    """
    mine = (campaign, chunk, attempt)
    sql = f"UPDATE chunk SET state=NULL, attempt=NULL WHERE campaign=? AND chunk=? AND attempt=? AND state={SENDING}"
    if guessed(connection, sql, mine, usually).rowcount:
        sql = f"UPDATE recipient SET own_state={SENDING}, attempts=attempts+1, attempt=? WHERE campaign=? AND chunk=?"
        guessed(connection, sql, (attempt, campaign, chunk), ANY)


# Which columns may name people, and how. By it a server keeps no samples of them (`server.dialect`), texts and JSON are
# searched for who is forgotten or asks (`people.texts`), a purge leaves none in a request (`people.purging`), and who
# reads costs alone may read none but names and ids (docs/guides/team.md). A test holds that no other column does.


class How(Enum):
    """How a column may name a person."""

    NUMBER = "a number, or the hash that stands for somebody who was forgotten"
    TEXT = "written by people or their systems"
    JSON = "the same, as JSON"
    UNIT = "a text of which two must stay two"
    PACKED = "many values as bytes, made anew from the rows"
    HASH = "a hash without a key: who knows the rest can try numbers"
    NAME = "what an arm or a file is called: it stays as it is, and an export quotes it"
    ID = "what messages are known by"


class Column(NamedTuple):
    """A column that may name people: what people call it, and by what its rows are known."""

    table: str
    column: str
    how: How
    called: str = ""
    key: tuple[str, ...] = ("id",)


_ROW: Final = ("campaign", "chunk", "position")
_ARM: Final = ("experiment", "person")
PEOPLE: Final = (
    Column("recipient", "number", How.NUMBER),
    Column("recipient", "kept", How.JSON, "kept column", _ROW),
    Column("recipient", "message", How.TEXT, "id of a message", _ROW),
    Column("consent", "person", How.NUMBER),
    Column("consent", "source", How.TEXT, "source of an opt-out or opt-in"),
    Column("consent", "proof", How.TEXT, "proof of an opt-out or opt-in"),
    Column("opted_out", "person", How.NUMBER),
    Column("assigned", "person", How.NUMBER),
    Column("assigned", "unit", How.UNIT, "unit of an experiment", _ARM),
    Column("assigned", "stratum", How.JSON, "stratum of an experiment", _ARM),
    Column("contacts", "people", How.PACKED),
    Column("contacts", "body", How.PACKED),
    Column("attempt", "error_code", How.TEXT, "error of a request"),
    Column("attempt", "error", How.TEXT, "error of a request"),
    Column("attempt", "request_id", How.TEXT, "id of a request"),
    Column("attempt", "disagreement", How.TEXT, "error of a request"),
    Column("attempt", "ids", How.ID),
    Column("attempt", "kinds", How.ID),
    Column("wording", "segment", How.TEXT, "segment of a campaign"),
    Column("wording", "template", How.TEXT, "id of a template"),
    Column("wording", "text", How.TEXT, "words of a campaign"),
    Column("wording", "variables", How.JSON, "column of a list"),
    Column("wording", "key", How.HASH),
    Column("measure", "forcing", How.JSON, "column of a list"),
    Column("chunk", "body", How.HASH),
    Column("campaign", "name", How.TEXT, "name of a campaign"),
    Column("campaign", "kept", How.JSON, "column of a list"),
    Column("campaign", "fingerprint", How.HASH),
    Column("sums", "shared", How.PACKED),
    Column("sums", "by_shared", How.PACKED),
    Column("change", "reason", How.TEXT, "reason of a change"),
    Column("change", "replaced", How.HASH),
    Column("change", "evidence", How.JSON, "line of an invoice"),
    Column("decision", "reason", How.TEXT, "reason of a decision"),
    Column("experiment", "name", How.TEXT, "name of an experiment"),
    Column("experiment", "declared", How.NAME, "arm or stratum of an experiment"),
    Column("copy", "path", How.NAME, "name of a file", ("path", "who")),
)


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table that may name people.

    Example:
        >>> columns_of("opted_out")
        ('person',)
    """
    return tuple(one.column for one in PEOPLE if one.table == table)
