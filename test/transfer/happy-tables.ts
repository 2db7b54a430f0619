import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** The tables of a Happy server that are imported, as its published schema has them. */
export const happyTables = `
  CREATE TABLE "Account" (id text PRIMARY KEY, "publicKey" text NOT NULL UNIQUE, seq integer NOT NULL DEFAULT 0, "feedSeq" bigint NOT NULL DEFAULT 0,
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now(), settings text, "settingsVersion" integer NOT NULL DEFAULT 0,
    username text UNIQUE, "firstName" text, "lastName" text, avatar jsonb, "githubUserId" text);
  CREATE TABLE "Session" (id text PRIMARY KEY, tag text NOT NULL, "accountId" text NOT NULL REFERENCES "Account", metadata text NOT NULL,
    "metadataVersion" integer NOT NULL DEFAULT 0, "agentState" text, "agentStateVersion" integer NOT NULL DEFAULT 0, "dataEncryptionKey" bytea,
    seq integer NOT NULL DEFAULT 0, active boolean NOT NULL DEFAULT true, "lastActiveAt" timestamp(3) NOT NULL DEFAULT now(),
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now(), UNIQUE ("accountId", tag));
  CREATE TABLE "SessionMessage" (id text PRIMARY KEY, "sessionId" text NOT NULL REFERENCES "Session", "localId" text, seq integer NOT NULL, content jsonb NOT NULL,
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now(), UNIQUE ("sessionId", "localId"));
  CREATE TABLE "Machine" (id text PRIMARY KEY, "accountId" text NOT NULL REFERENCES "Account", metadata text NOT NULL, "metadataVersion" integer NOT NULL DEFAULT 0,
    "daemonState" text, "daemonStateVersion" integer NOT NULL DEFAULT 0, "dataEncryptionKey" bytea, seq integer NOT NULL DEFAULT 0, active boolean NOT NULL DEFAULT true,
    "lastActiveAt" timestamp(3) NOT NULL DEFAULT now(), "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now());
  CREATE TABLE "Artifact" (id text PRIMARY KEY, "accountId" text NOT NULL REFERENCES "Account", header bytea NOT NULL, "headerVersion" integer NOT NULL DEFAULT 0,
    body bytea NOT NULL, "bodyVersion" integer NOT NULL DEFAULT 0, "dataEncryptionKey" bytea NOT NULL, seq integer NOT NULL DEFAULT 0,
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now());
  CREATE TABLE "AccessKey" (id text PRIMARY KEY, "accountId" text NOT NULL, "machineId" text NOT NULL, "sessionId" text NOT NULL, data text NOT NULL,
    "dataVersion" integer NOT NULL DEFAULT 0, "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now(),
    UNIQUE ("accountId", "machineId", "sessionId"));
  CREATE TABLE "UserKVStore" (id text PRIMARY KEY, "accountId" text NOT NULL, key text NOT NULL, value bytea, version integer NOT NULL DEFAULT 0,
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now(), UNIQUE ("accountId", key));
  CREATE TABLE "UsageReport" (id text PRIMARY KEY, key text NOT NULL, "accountId" text NOT NULL, "sessionId" text, data jsonb NOT NULL,
    "createdAt" timestamp(3) NOT NULL DEFAULT now(), "updatedAt" timestamp(3) NOT NULL DEFAULT now());
  CREATE TABLE "AccountPushToken" (id text PRIMARY KEY, "accountId" text NOT NULL, token text NOT NULL, "createdAt" timestamp(3) NOT NULL DEFAULT now(),
    "updatedAt" timestamp(3) NOT NULL DEFAULT now(), UNIQUE ("accountId", token));
`

/** Adds a row; its id is made up unless it is given, and other columns have their defaults. */
export type Insert = (table: string, row: Record<string, unknown>) => Promise<void>

/** Creates the tables in an empty database and calls `fill`. */
export async function makeHappyDatabase(url: string, fill: (insert: Insert) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(happyTables)
    await fill(async (table, row) => {
      const entries = Object.entries<unknown>({ id: randomUUID(), ...row })
      const columns = entries.map(([column]) => `"${column}"`).join(', ')
      const places = entries.map((_, index) => `$${index + 1}`).join(', ')
      await client.query(
        `INSERT INTO "${table}" (${columns}) VALUES (${places})`,
        // Such a server stores times in UTC, without a zone.
        entries.map(([, value]) => (value instanceof Date ? value.toISOString().slice(0, -1) : value))
      )
    })
  } finally {
    await client.end()
  }
}
