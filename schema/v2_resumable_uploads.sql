-- Version 2: resources that are made from another resource (poster, thumbnail), what an upload must know to go on, and the
-- uploads that have to be taken back. SQLite can't change a CHECK, so the table of resources is made anew
-- (https://sqlite.org/lang_altertable.html, section 7).

CREATE TABLE resources_v2 (
  task            INTEGER NOT NULL REFERENCES tasks (sequence) ON DELETE CASCADE,
  position        INTEGER NOT NULL,                       -- index within the task
  role            TEXT NOT NULL CHECK (role IN ('image', 'video', 'audio', 'cover', 'archive', 'poster', 'thumbnail')),
  derived_from    INTEGER,                                -- position of the resource that it is made from
  name            TEXT NOT NULL,
  source          TEXT NOT NULL,                          -- JSON
  source_mime     TEXT NOT NULL,
  identity        TEXT,                                   -- JSON: size, times, inode at submit
  state           TEXT NOT NULL CHECK (state IN ('pending', 'exporting', 'exported', 'uploading', 'uploaded', 'failed')),
  export          TEXT,                                   -- JSON: the finished file in exports/
  upload_protocol TEXT,
  upload_state    TEXT,                                   -- JSON of the protocol: what it needs to go on
  url             TEXT,
  receipt         TEXT,                                   -- canonical JSON
  failure         TEXT,                                   -- JSON
  repeats         INTEGER NOT NULL,
  PRIMARY KEY (task, position),
  CONSTRAINT done_has_url_and_receipt CHECK ((state = 'uploaded') = (url IS NOT NULL AND receipt IS NOT NULL)),
  CONSTRAINT done_keeps_no_upload_state CHECK (state <> 'uploaded' OR upload_state IS NULL)
) WITHOUT ROWID;

INSERT INTO resources_v2 (task, position, role, name, source, source_mime, identity, state, export, upload_protocol, url,
                          receipt, failure, repeats)
SELECT task, position, role, name, source, source_mime, identity, state, export, upload_protocol, url, receipt, failure,
       repeats FROM resources;

DROP TABLE resources;
ALTER TABLE resources_v2 RENAME TO resources;

-- Uploads that were begun and that nobody will finish: the server is told so in the background, until it has understood.
CREATE TABLE abandoned_uploads (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  destination TEXT NOT NULL,
  state       TEXT NOT NULL,                              -- JSON of the protocol, as in resources.upload_state
  abandoned_at INTEGER NOT NULL
);
