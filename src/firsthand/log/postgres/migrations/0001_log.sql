-- The log: namespaces, sessions, events and payloads, and the functions that alone may write them.

CREATE TABLE version (number integer PRIMARY KEY, made timestamptz NOT NULL);

-- Facts of the store as a whole: uuid, created (microseconds since 1970), fence_key, and the versions of this schema
-- that a program has to know to read (reader_min) and to write (writer_min). The same on every node of a cluster.
CREATE TABLE store (key text PRIMARY KEY, value bytea NOT NULL);
INSERT INTO store VALUES ('reader_min', '\x01'), ('writer_min', '\x01');

-- The tenants. Their number is taken from the hash of their name, so that nothing has to be asked to know it.
CREATE TABLE namespace (
  namespace  bigint PRIMARY KEY,
  name       text NOT NULL,
  position   bigint NOT NULL,              -- of its last event
  head       bytea NOT NULL,               -- 32 bytes rolled over its events
  moved      text,                         -- 'to' the primary that has it now, or 'from' the one that has it yet
  bytes      bigint NOT NULL DEFAULT 0,    -- of all that was appended, as stored; what was erased since counts
  day        bigint NOT NULL DEFAULT 0,    -- that the next two are of, in days since 1970 (UTC)
  day_events bigint NOT NULL DEFAULT 0,
  day_bytes  bigint NOT NULL DEFAULT 0,
  events_max bigint,                       -- limits; null for none
  bytes_max  bigint,
  day_events_max bigint,
  day_bytes_max  bigint,
  CHECK (octet_length(head) = 32)
);

CREATE TABLE session (
  namespace      bigint NOT NULL,
  session        bigint NOT NULL,          -- the position of its first event
  name           text NOT NULL,
  length         bigint NOT NULL,          -- events in it; the next event's sequence
  turn           bigint NOT NULL,          -- user messages so far
  last_position  bigint NOT NULL,
  first_time     bigint,                   -- least event time, microseconds since 1970; null when none is known
  last_time      bigint,
  head           bytea NOT NULL,           -- chain hash of its last event
  PRIMARY KEY (namespace, session),
  UNIQUE (namespace, name)
);

CREATE TABLE event (
  namespace  bigint NOT NULL,
  position   bigint NOT NULL,              -- 1, 2, 3 ... the namespace's one order
  id         bytea NOT NULL,               -- 16 bytes, sortable by time
  session    bigint NOT NULL,
  sequence   bigint NOT NULL,              -- 0, 1, 2 ... in its session
  part       integer NOT NULL,             -- k-th event of its source record
  turn       bigint NOT NULL,
  kind       smallint NOT NULL,
  trust      smallint NOT NULL,
  agent      text NOT NULL,
  origin     text NOT NULL,
  time       bigint,                       -- when it happened, microseconds since 1970; null unknown
  time_offset smallint,                    -- minutes
  ingested   bigint NOT NULL,              -- when the log took it
  ingested_offset smallint NOT NULL,
  chain      bytea NOT NULL,               -- 32 bytes
  commitment bytea NOT NULL,               -- 32 bytes
  head       bytea NOT NULL,               -- 32 bytes: the namespace's head here, so that one kept elsewhere is found
  salt       bytea,                        -- 16 bytes; null when erased, or sealed with the body
  body       bytea,                        -- codec byte and compressed or sealed body; null when erased
  PRIMARY KEY (namespace, position),
  UNIQUE (namespace, id),
  UNIQUE (namespace, session, sequence)
);
ALTER TABLE event ALTER COLUMN body SET STORAGE EXTERNAL;  -- it is compressed already

-- Which events hold which artifact: its bytes go when its last holder is erased.
CREATE TABLE artifact_use (
  namespace bigint NOT NULL,
  digest    bytea NOT NULL,
  position  bigint NOT NULL,
  PRIMARY KEY (namespace, digest, position)
);

-- Payloads that are too large for a row of their event, in pieces. Larger ones lie in an object store: their one row
-- is piece -1, the manifest of the object.
CREATE TABLE artifact (
  namespace bigint NOT NULL,
  digest    bytea NOT NULL,
  piece     integer NOT NULL,
  bytes     bytea NOT NULL,
  object    bytea,                         -- the object's name; null where the bytes are here
  size      bigint,                        -- of the object
  stored    timestamptz NOT NULL DEFAULT now(),  -- or last asked for; what no event holds goes some time after it
  PRIMARY KEY (namespace, digest, piece)
);
ALTER TABLE artifact ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Keys of erased content that have still to be forgotten where keys are kept (`seal`): how what they sealed began.
CREATE TABLE forgotten (namespace bigint NOT NULL, key bytea NOT NULL, PRIMARY KEY (namespace, key));

-- Objects before they are uploaded, until a payload lies in them; other payloads on their way, where a limit is to count
-- them; and objects that no payload lies in, still to be removed.
CREATE TABLE pending_object (
  namespace bigint NOT NULL,
  name      bytea NOT NULL,                -- of the object; of a payload in the database, its digest
  size      bigint,                        -- of one on its way; null for one to be removed
  begun     timestamptz NOT NULL DEFAULT now(),
  digest    bytea,                         -- of the payload on its way
  PRIMARY KEY (namespace, name)
);

-- Add events behind the last one of a namespace, all or none. The writer has hashed them onto the head that it read:
-- the head is compared and set, and one that has moved gives false. What is known of sessions is right if the head is.
-- One that others hold is waited for briefly: the caller has other namespaces' events to write meanwhile.
CREATE FUNCTION append_1(
  of_namespace bigint, of_name text, old_position bigint, old_head bytea, new_head bytea,
  ids bytea[], sessions bigint[], sequences bigint[], parts integer[], turns bigint[], kinds smallint[],
  trusts smallint[], agents text[], origins text[], times bigint[], time_offsets smallint[],
  ingests bigint[], ingested_offsets smallint[], chains bytea[], commitments bytea[], event_heads bytea[],
  salts bytea[], bodies bytea[],
  session_keys bigint[], session_names text[], lengths bigint[], session_turns bigint[], last_positions bigint[],
  first_times bigint[], last_times bigint[], heads bytea[], artifact_digests bytea[], artifact_positions bigint[]
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  count bigint := cardinality(ids);
  today bigint := (now() AT TIME ZONE 'UTC')::date - date '1970-01-01';
  added bigint;
  excess text;
BEGIN
  IF count = 1 THEN  -- most appends, here and below: no arrays are unfolded for one event
    added := coalesce(octet_length(bodies[1]), 0);
  ELSE
    added := (SELECT coalesce(sum(octet_length(each)), 0) FROM unnest(bodies) AS each);
  END IF;
  IF cardinality(artifact_digests) > 0 THEN
    added := added + (SELECT coalesce(sum(coalesce(artifact.size, octet_length(artifact.bytes))), 0) FROM artifact
      WHERE artifact.namespace = of_namespace AND digest = ANY (artifact_digests));
  END IF;
  IF old_position = 0 THEN
    INSERT INTO namespace (namespace, name, position, head) VALUES (of_namespace, of_name, 0, old_head)
      ON CONFLICT DO NOTHING;
  END IF;
  UPDATE namespace SET position = old_position + count, head = new_head, bytes = bytes + added, day = today,
      day_events = CASE WHEN day = today THEN day_events ELSE 0 END + count,
      day_bytes = CASE WHEN day = today THEN day_bytes ELSE 0 END + added
    WHERE namespace.namespace = of_namespace AND name = of_name AND position = old_position AND head = old_head
      AND (moved IS NULL OR current_setting('firsthand.moving', true) = 'on')
    RETURNING CASE WHEN position > events_max THEN events_max || ' events in all'
      WHEN bytes > bytes_max THEN bytes_max || ' bytes in all'
      WHEN day_events > day_events_max THEN day_events_max || ' events a day'
      WHEN day_bytes > day_bytes_max THEN day_bytes_max || ' bytes a day' END INTO excess;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- Erasures (kind 16) are never refused, nor is what is moved from another primary.
  IF excess IS NOT NULL AND NOT 16 = ALL (kinds) AND current_setting('firsthand.moving', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION '%', excess USING ERRCODE = 'FH001';
  END IF;
  IF EXISTS (SELECT FROM store WHERE key = 'encrypted')
      AND EXISTS (SELECT FROM unnest(bodies) AS body WHERE get_byte(body, 0) <> 3) THEN
    RAISE 'the content of this store is encrypted, and a plain body came; open the store again';
  END IF;
  IF count = 1 THEN
    INSERT INTO event (namespace, position, id, session, sequence, part, turn, kind, trust, agent, origin, time,
        time_offset, ingested, ingested_offset, chain, commitment, head, salt, body)
      VALUES (of_namespace, old_position + 1, ids[1], sessions[1], sequences[1], parts[1], turns[1], kinds[1],
        trusts[1], agents[1], origins[1], times[1], time_offsets[1], ingests[1], ingested_offsets[1], chains[1],
        commitments[1], event_heads[1], salts[1], bodies[1]);
    INSERT INTO session AS known (namespace, session, name, length, turn, last_position, first_time, last_time, head)
      VALUES (of_namespace, session_keys[1], session_names[1], lengths[1], session_turns[1], last_positions[1],
        first_times[1], last_times[1], heads[1])
      ON CONFLICT (namespace, session) DO UPDATE SET length = excluded.length, turn = excluded.turn,
        last_position = excluded.last_position, first_time = excluded.first_time, last_time = excluded.last_time,
        head = excluded.head;
  ELSE
    INSERT INTO event (namespace, position, id, session, sequence, part, turn, kind, trust, agent, origin, time,
        time_offset, ingested, ingested_offset, chain, commitment, head, salt, body)
      SELECT of_namespace, old_position + row.number, row.id, row.session, row.sequence, row.part, row.turn, row.kind,
        row.trust, row.agent, row.origin, row.time, row.time_offset, row.ingested, row.ingested_offset, row.chain,
        row.commitment, row.head, row.salt, row.body
      FROM unnest(ids, sessions, sequences, parts, turns, kinds, trusts, agents, origins, times, time_offsets, ingests,
          ingested_offsets, chains, commitments, event_heads, salts, bodies) WITH ORDINALITY
        AS row (id, session, sequence, part, turn, kind, trust, agent, origin, time, time_offset, ingested,
          ingested_offset, chain, commitment, head, salt, body, number);
    INSERT INTO session AS known (namespace, session, name, length, turn, last_position, first_time, last_time, head)
      SELECT of_namespace, row.* FROM unnest(
        session_keys, session_names, lengths, session_turns, last_positions, first_times, last_times, heads) AS row
      ON CONFLICT (namespace, session) DO UPDATE SET length = excluded.length, turn = excluded.turn,
        last_position = excluded.last_position, first_time = excluded.first_time, last_time = excluded.last_time,
        head = excluded.head;
  END IF;
  IF cardinality(artifact_digests) > 0 THEN
    INSERT INTO artifact_use (namespace, digest, position)
      SELECT of_namespace, row.* FROM unnest(artifact_digests, artifact_positions) AS row;
    -- A payload that was put before the head was held may have been erased since, with its last holder. Its first piece
    -- is asked for: whoever puts it again begins with that.
    IF EXISTS (SELECT FROM unnest(artifact_digests) AS row (digest) WHERE NOT EXISTS (SELECT FROM artifact
        WHERE artifact.namespace = of_namespace AND artifact.digest = row.digest AND artifact.piece <= 0)) THEN
      RAISE EXCEPTION 'a payload was erased while its event was appended' USING ERRCODE = 'FH002';
    END IF;
  END IF;
  RETURN true;
END $$;

-- Hold a namespace's head until the end of the transaction, and give it; nothing where it has no event yet.
CREATE FUNCTION hold_1(of_namespace bigint) RETURNS TABLE (at bigint, hash bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  elsewhere text;
BEGIN
  SELECT position, head, moved INTO at, hash, elsewhere FROM namespace
    WHERE namespace.namespace = of_namespace FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF elsewhere IS NOT NULL AND current_setting('firsthand.moving', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION '%', elsewhere USING ERRCODE = 'FH003';
  END IF;
  RETURN NEXT;
END $$;

-- Destroy the content of events, and what held their payloads; the erasure itself is appended in the same transaction.
-- Gives the digests that no event holds any more, with the objects that they lay in.
CREATE FUNCTION erase_1(of_namespace bigint, positions bigint[]) RETURNS TABLE (gone_digest bytea, gone_object bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  freed bytea[];
BEGIN
  IF nullif(current_setting('firsthand.namespace', true), '')::bigint IS DISTINCT FROM of_namespace THEN
    RAISE EXCEPTION 'the transaction has named another namespace' USING ERRCODE = 'insufficient_privilege';
  END IF;
  INSERT INTO forgotten (namespace, key) SELECT of_namespace, substring(body FROM 1 FOR 16) FROM event
    WHERE namespace = of_namespace AND position = ANY (positions) AND get_byte(body, 0) = 3 ON CONFLICT DO NOTHING;
  UPDATE event SET salt = NULL, body = NULL WHERE namespace = of_namespace AND position = ANY (positions);
  WITH gone AS (
    DELETE FROM artifact_use WHERE namespace = of_namespace AND position = ANY (positions) RETURNING digest
  ) SELECT coalesce(array_agg(DISTINCT digest), '{}') INTO freed FROM gone;
  freed := ARRAY (
    SELECT each FROM unnest(freed) AS each WHERE NOT EXISTS (
      SELECT FROM artifact_use WHERE artifact_use.namespace = of_namespace AND artifact_use.digest = each));
  INSERT INTO forgotten (namespace, key) SELECT DISTINCT of_namespace, substring(bytes FROM 1 FOR 16) FROM artifact
    WHERE namespace = of_namespace AND digest = ANY (freed) AND get_byte(bytes, 0) = 3 ON CONFLICT DO NOTHING;
  INSERT INTO pending_object (namespace, name) SELECT of_namespace, object FROM artifact
    WHERE namespace = of_namespace AND digest = ANY (freed) AND object IS NOT NULL ON CONFLICT DO NOTHING;
  UPDATE pending_object SET size = NULL  -- uploads of the same that were cut short
    WHERE namespace = of_namespace AND digest = ANY (freed) AND name <> digest;
  RETURN QUERY WITH rows AS (
    DELETE FROM artifact WHERE namespace = of_namespace AND digest = ANY (freed) RETURNING digest, piece, object
  ) SELECT digest, object FROM rows WHERE piece <= 0;
END $$;

-- Note that keys of erased content were forgotten.
CREATE FUNCTION forget_1(of_namespace bigint, keys bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  DELETE FROM forgotten WHERE namespace = of_namespace AND key = ANY (keys)
    AND namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint
$$;

-- Note that objects were removed, or never came to be.
CREATE FUNCTION forget_objects_1(of_namespace bigint, names bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  DELETE FROM pending_object WHERE namespace = of_namespace AND name = ANY (names)
    AND namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint
$$;

-- Note that objects are to be removed whose uploads failed; one that a payload came to lie in is not noted any more.
CREATE FUNCTION free_objects_1(of_namespace bigint, names bytea[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE pending_object SET size = NULL WHERE namespace = of_namespace AND name = ANY (names)
    AND namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint
$$;

-- Keep a piece of a payload, or the manifest of its object; the same piece again changes nothing. Gives the object that
-- the payload lies in: none where this one was freed meanwhile, so that whoever frees objects may remove it.
CREATE FUNCTION put_piece_1(
  of_namespace bigint, of_digest bytea, number integer, content bytea, of_object bytea, of_size bigint
) RETURNS bytea LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  elsewhere text := (SELECT moved FROM namespace WHERE namespace.namespace = of_namespace);
  object_there bytea;
BEGIN
  IF elsewhere IS NOT NULL AND current_setting('firsthand.moving', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION '%', elsewhere USING ERRCODE = 'FH003';
  END IF;
  IF of_object IS NOT NULL THEN
    DELETE FROM pending_object WHERE namespace = of_namespace AND name = of_object AND size IS NOT NULL;
    IF NOT FOUND THEN
      INSERT INTO pending_object (namespace, name) SELECT of_namespace, of_object WHERE NOT EXISTS (
        SELECT FROM artifact WHERE namespace = of_namespace AND digest = of_digest AND object = of_object
      ) ON CONFLICT DO NOTHING;
      RETURN (SELECT object FROM artifact WHERE namespace = of_namespace AND digest = of_digest AND object = of_object);
    END IF;
  END IF;
  INSERT INTO artifact (namespace, digest, piece, bytes, object, size)
    VALUES (of_namespace, of_digest, number, content, of_object, of_size)
    ON CONFLICT (namespace, digest, piece) DO UPDATE SET stored = now() RETURNING object INTO object_there;
  IF object_there <> of_object THEN  -- the payload was put by somebody else meanwhile
    INSERT INTO pending_object (namespace, name) VALUES (of_namespace, of_object);
  END IF;
  RETURN object_there;
END $$;

-- Say whether a payload is there already; then it stays for a while, whatever becomes of its holders' appends.
CREATE FUNCTION keep_1(of_namespace bigint, of_digest bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE artifact SET stored = now() WHERE namespace = of_namespace AND digest = of_digest AND piece <= 0;
  RETURN FOUND;
END $$;

-- Refuse a payload for which a limit of its namespace has no room, those that no event holds yet and those on their way
-- included, each once however often it was begun; or keep its room until it is there. Until the end of the transaction
-- no other payload asks. An object is noted in any case: what is not noted is never removed.
CREATE FUNCTION room_1(of_namespace bigint, added bigint, of_name bytea, of_digest bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  tenant namespace%ROWTYPE;
  waiting bigint;
BEGIN
  SELECT * INTO tenant FROM namespace WHERE namespace.namespace = of_namespace
    AND (bytes_max IS NOT NULL OR day_bytes_max IS NOT NULL)
    AND current_setting('firsthand.moving', true) IS DISTINCT FROM 'on';
  IF NOT FOUND THEN
    INSERT INTO pending_object (namespace, name, size, digest)
      SELECT of_namespace, of_name, added, of_digest WHERE of_name <> of_digest;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(of_namespace);
  waiting := added
    + (SELECT coalesce(sum(most), 0) FROM (SELECT max(size) AS most FROM pending_object
      WHERE namespace = of_namespace AND digest <> of_digest AND NOT EXISTS (SELECT FROM artifact
        WHERE artifact.namespace = of_namespace AND artifact.digest = pending_object.digest) GROUP BY digest) AS each)
    + (SELECT coalesce(sum(coalesce(size, octet_length(bytes))), 0) FROM artifact
      WHERE namespace = of_namespace AND NOT EXISTS (SELECT FROM artifact_use
        WHERE artifact_use.namespace = of_namespace AND artifact_use.digest = artifact.digest));
  IF tenant.bytes + waiting > tenant.bytes_max THEN
    RAISE EXCEPTION '% bytes in all', tenant.bytes_max USING ERRCODE = 'FH001';
  ELSIF waiting + (CASE WHEN tenant.day = (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' THEN tenant.day_bytes
      ELSE 0 END) > tenant.day_bytes_max THEN
    RAISE EXCEPTION '% bytes a day', tenant.day_bytes_max USING ERRCODE = 'FH001';
  END IF;
  INSERT INTO pending_object (namespace, name, size, digest) VALUES (of_namespace, of_name, added, of_digest)
    ON CONFLICT (namespace, name) DO UPDATE SET size = added, begun = now();
END $$;

-- Remove the payloads that no event came to hold and that were stored before a time. Gives what `erase_1` gives.
CREATE FUNCTION sweep_1(of_namespace bigint, before timestamptz) RETURNS TABLE (gone_digest bytea, gone_object bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  spare bytea[];
BEGIN
  IF nullif(current_setting('firsthand.namespace', true), '')::bigint IS DISTINCT FROM of_namespace THEN
    RAISE EXCEPTION 'the transaction has named another namespace' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM FROM namespace WHERE namespace.namespace = of_namespace FOR UPDATE;  -- no append comes between
  spare := ARRAY (
    SELECT digest FROM artifact WHERE namespace = of_namespace AND piece <= 0 AND stored <= before AND NOT EXISTS (
      SELECT FROM artifact_use WHERE artifact_use.namespace = of_namespace AND artifact_use.digest = artifact.digest));
  INSERT INTO forgotten (namespace, key) SELECT DISTINCT of_namespace, substring(bytes FROM 1 FOR 16) FROM artifact
    WHERE namespace = of_namespace AND digest = ANY (spare) AND get_byte(bytes, 0) = 3 ON CONFLICT DO NOTHING;
  INSERT INTO pending_object (namespace, name) SELECT of_namespace, object FROM artifact
    WHERE namespace = of_namespace AND digest = ANY (spare) AND object IS NOT NULL ON CONFLICT DO NOTHING;
  DELETE FROM pending_object WHERE namespace = of_namespace AND name = digest AND begun <= before;
  UPDATE pending_object SET size = NULL WHERE namespace = of_namespace AND size IS NOT NULL AND begun <= before;
  RETURN QUERY WITH rows AS (
    DELETE FROM artifact WHERE namespace = of_namespace AND digest = ANY (spare) RETURNING digest, piece, object
  ) SELECT digest, object FROM rows WHERE piece <= 0;
END $$;

-- Note where the objects of the store are, if it says what the caller has read; it is said to who opens it otherwise.
CREATE FUNCTION name_objects_1(address bytea, known bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO store (key, value) VALUES ('objects', address)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE store.value = known;
  RETURN FOUND;
END $$;

-- The application reads rows of the namespace that it has named, and calls the functions. Row-level security is not
-- forced on the owner: an online move of a shard would lose rows of an owner that it binds.
DO $$ BEGIN
  CREATE ROLE firsthand_application NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;  -- of another store on this server
END $$;
GRANT USAGE ON SCHEMA firsthand TO firsthand_application;
GRANT SELECT ON version, store, namespace, session, event, artifact_use, artifact, forgotten, pending_object
  TO firsthand_application;

ALTER TABLE namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE session ENABLE ROW LEVEL SECURITY;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE artifact_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE artifact ENABLE ROW LEVEL SECURITY;
ALTER TABLE forgotten ENABLE ROW LEVEL SECURITY;
ALTER TABLE pending_object ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON namespace FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON session FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON event FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON artifact_use FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON artifact FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON forgotten FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);
CREATE POLICY tenant ON pending_object FOR SELECT
  USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint);

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA firsthand FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA firsthand TO firsthand_application;
