-- The store, version 1 (SQLite's user_version). Applied in one transaction; never edited after a release: changes are new
-- files. The lists in the CHECKs are those of TaskState, ResourceState and WaitReason; a test compares them.
-- Times are milliseconds since 1970, sizes bytes.

CREATE TABLE tasks (
  sequence            INTEGER PRIMARY KEY AUTOINCREMENT,  -- submit order
  id                  TEXT NOT NULL UNIQUE,
  key                 TEXT,                               -- the submitter's token
  content_hash        TEXT NOT NULL,                      -- of what was submitted, to tell a repeat from a conflict
  account             TEXT NOT NULL,
  kind                TEXT NOT NULL CHECK (kind IN ('feedPost', 'chatVideo', 'message', 'avatar', 'log')),
  lane                TEXT NOT NULL,
  destination         TEXT NOT NULL,
  state               TEXT NOT NULL CHECK (state IN ('draft', 'queued', 'exporting', 'uploading', 'delivering', 'retrying',
                                                     'paused', 'sent', 'failed', 'canceled')),
  partial             TEXT NOT NULL CHECK (partial IN ('fail', 'publish')),
  min_resources       INTEGER NOT NULL,
  urgency             TEXT NOT NULL CHECK (urgency IN ('interactive', 'normal', 'background')),
  not_before          INTEGER,
  payload             TEXT,                               -- JSON, as submitted
  attempt             INTEGER NOT NULL,
  failed_attempts     INTEGER NOT NULL,
  next_attempt_at     INTEGER,
  waiting_for         TEXT CHECK (waiting_for IN ('slot', 'lane', 'backoff', 'host', 'network', 'frontEnd', 'notBefore')),
  pending_since       INTEGER NOT NULL,
  deliveries_in_doubt INTEGER NOT NULL CHECK (deliveries_in_doubt >= 0),
  cancel_requested    INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  has_progressed      INTEGER NOT NULL CHECK (has_progressed IN (0, 1)),
  failure             TEXT,                               -- JSON
  remote_id           TEXT,
  progress            REAL NOT NULL CHECK (progress BETWEEN 0 AND 1),
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  finished_at         INTEGER,
  CONSTRAINT final_state_has_finished_at CHECK ((state IN ('sent', 'failed', 'canceled')) = (finished_at IS NOT NULL)),
  CONSTRAINT sent_is_whole CHECK (state <> 'sent' OR (progress = 1 AND failure IS NULL))
);

CREATE UNIQUE INDEX tasks_by_key ON tasks (account, key) WHERE key IS NOT NULL;
CREATE INDEX tasks_by_lane ON tasks (account, lane, sequence);
CREATE INDEX tasks_by_state ON tasks (state, sequence);

CREATE TABLE resources (
  task            INTEGER NOT NULL REFERENCES tasks (sequence) ON DELETE CASCADE,
  position        INTEGER NOT NULL,                       -- index within the task
  role            TEXT NOT NULL CHECK (role IN ('image', 'video', 'audio', 'cover', 'archive')),
  name            TEXT NOT NULL,
  source          TEXT NOT NULL,                          -- JSON
  source_mime     TEXT NOT NULL,
  identity        TEXT,                                   -- JSON: size, times, inode at submit
  state           TEXT NOT NULL CHECK (state IN ('pending', 'exporting', 'exported', 'uploading', 'uploaded', 'failed')),
  export          TEXT,                                   -- JSON: the finished file in exports/
  upload_protocol TEXT,
  url             TEXT,
  receipt         TEXT,                                   -- canonical JSON
  failure         TEXT,                                   -- JSON
  repeats         INTEGER NOT NULL,
  PRIMARY KEY (task, position),
  CONSTRAINT done_has_url_and_receipt CHECK ((state = 'uploaded') = (url IS NOT NULL AND receipt IS NOT NULL))
) WITHOUT ROWID;

-- What happened to a task, step by step.
CREATE TABLE history (
  id         INTEGER PRIMARY KEY,
  task       INTEGER NOT NULL REFERENCES tasks (sequence) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  position   INTEGER,                                     -- of a resource; NULL for the task itself
  from_state TEXT NOT NULL,
  to_state   TEXT NOT NULL,
  failure    TEXT
);

CREATE INDEX history_by_task ON history (task, id);

-- What front ends were, or would have been, told; the id is the cursor of event/subscribe.
CREATE TABLE changes (
  cursor  INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL,
  at      INTEGER NOT NULL,
  task    TEXT                                            -- JSON as of then; NULL: the task was deleted
);

CREATE INDEX changes_by_task ON changes (task_id, cursor);
