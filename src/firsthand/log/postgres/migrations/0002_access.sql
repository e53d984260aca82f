-- Who may ask a server for teams, and for what. Small tables, of no namespace: on a cluster every node has them whole.
-- The owner alone writes them and reads them whole; the application asks about one key or one principal.

CREATE TABLE api_key (
  prefix    text PRIMARY KEY,              -- the beginning of the key, by which it is looked up
  hash      bytea NOT NULL,                -- SHA-256 of the whole key, which has 256 random bits
  principal text NOT NULL,
  made      timestamptz NOT NULL DEFAULT now(),
  expires   timestamptz,
  revoked   timestamptz,
  used      timestamptz,                   -- to the minute
  CHECK (octet_length(hash) = 32)
);

CREATE TABLE access (
  principal text NOT NULL,
  namespace text NOT NULL,                 -- its name: it need not have an event yet
  allowed   text NOT NULL CHECK (allowed IN ('read', 'append', 'ledger', 'erase', 'admin')),
  PRIMARY KEY (principal, namespace, allowed)
);

CREATE FUNCTION api_key_1(of_prefix text) RETURNS TABLE (hash bytea, principal text, state text, is_used boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT k.hash, k.principal,
    CASE WHEN k.revoked IS NOT NULL THEN 'was revoked' WHEN k.expires <= now() THEN 'has expired' ELSE '' END,
    coalesce(k.used > now() - interval '1 minute', false)
  FROM api_key k WHERE k.prefix = of_prefix
$$;

CREATE FUNCTION use_api_key_1(of_prefix text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE api_key SET used = now() WHERE prefix = of_prefix
$$;

CREATE FUNCTION access_1(of_principal text) RETURNS TABLE (namespace text, rights text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT a.namespace, array_agg(a.allowed) FROM access a WHERE a.principal = of_principal GROUP BY a.namespace
$$;

CREATE FUNCTION granted_1(of_namespace text) RETURNS TABLE (principal text, rights text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT a.principal, array_agg(a.allowed ORDER BY a.allowed) FROM access a WHERE a.namespace = of_namespace
  GROUP BY a.principal ORDER BY a.principal
$$;

REVOKE ALL ON FUNCTION api_key_1, use_api_key_1, access_1, granted_1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION api_key_1, use_api_key_1, access_1, granted_1 TO firsthand_application;
