"""How a plan is recorded and how a recorded campaign changes: recording, approval, corrections, evidence."""
