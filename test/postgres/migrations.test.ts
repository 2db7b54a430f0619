import t from 'tap'
import { readMigrations } from '../../lib/store/migrate.ts'

// While instances are upgraded one by one, the version before uses the schema too; lib/store/migrate.ts says how to write a step.
t.test('a step after the first only adds what older programs do not mind, or says which it needs [L4]', async t => {
  for (const { number, name, sql, needs } of readMigrations('postgres/').slice(1)) {
    if (needs === undefined) t.same(notOnlyAdding(sql), [], `${number} ${name}: see lib/store/migrate.ts`)
    else t.ok(needs < number, `${number} ${name} can be used by the version before, which does not know it`)
  }
})

t.test('what older programs would mind is found', async t => {
  for (const sql of [
    'CREATE TABLE mood (id bigint PRIMARY KEY, said text NOT NULL); CREATE UNIQUE INDEX mood_by_name ON mood (said);',
    'ALTER TABLE account ADD COLUMN mood text',
    'alter table account add mood text, add column since bigint not null default 0;',
    '-- DROP TABLE account;\nCREATE INDEX account_by_role ON account (role)',
    "INSERT INTO server_secret VALUES ('a;DROP TABLE b', '')",
    'CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $$ BEGIN DELETE FROM mood; RETURN 1; END $$;'
  ]) {
    t.same(notOnlyAdding(sql), [], sql)
  }
  for (const sql of [
    'DROP TABLE kv',
    'DROP INDEX kv_by_name',
    'ALTER TABLE account DROP COLUMN role',
    'ALTER TABLE account ADD COLUMN mood text, DROP COLUMN role',
    'ALTER TABLE account RENAME COLUMN role TO part',
    'ALTER TABLE account ALTER COLUMN role TYPE bigint',
    'ALTER TABLE account ALTER role SET NOT NULL',
    'ALTER TABLE account ADD COLUMN mood text NOT NULL',
    'ALTER TABLE account ADD COLUMN mood text UNIQUE',
    "ALTER TABLE account ADD CHECK (role <> '')",
    'ALTER TABLE account ADD CONSTRAINT one UNIQUE (role)',
    'CREATE UNIQUE INDEX one ON account (role)',
    'CREATE OR REPLACE FUNCTION digest_of(chosen text) RETURNS bytea LANGUAGE sql AS $$ SELECT 1 $$',
    'CREATE TRIGGER refuse BEFORE INSERT ON account EXECUTE FUNCTION f()',
    'TRUNCATE kv',
    'DO $$ BEGIN DROP TABLE kv; END $$'
  ]) {
    t.equal(notOnlyAdding(`CREATE TABLE mood (id bigint); ${sql};`).length, 1, sql)
  }
})

/** The statements of a step that are not of the kinds that a program which does not know them can live with. */
function notOnlyAdding(sql: string): string[] {
  const statements = statementsOf(sql)
  const own = new Set(statements.flatMap(statement => /^create table (\w+)/i.exec(statement)?.[1] ?? []))
  return statements.filter(statement => !isAdding(statement, own))
}

function isAdding(statement: string, own: ReadonlySet<string>): boolean {
  if (/^(create (table|function|index)|insert into|comment on) /i.test(statement)) return true
  const [, table = '', actions] =
    /^(?:create unique index \w+ on|alter table|create trigger .* on|update) (\w+)(.*)$/i.exec(statement) ?? []
  if (own.has(table)) return true
  return /^alter table/i.test(statement) && actions !== undefined && actionsOf(actions).every(addsColumn)
}

function addsColumn(action: string): boolean {
  if (
    !/^add (column )?(?!constraint|check|unique|primary|foreign|exclude)\w+ /i.test(action) ||
    /\b(check|unique|references)\b/i.test(action)
  )
    return false
  return !/\bnot null\b/i.test(action) || /\bdefault\b/i.test(action)
}

// Commas in parentheses do not separate actions.
function actionsOf(actions: string): string[] {
  return actions
    .replace(/\([^()]*\)/g, '()')
    .split(',')
    .map(action => action.trim())
}

function statementsOf(sql: string): string[] {
  return sql
    .replace(/--.*$/gm, '')
    .replace(/\$\$.*?\$\$/gs, '$$$$')
    .replace(/'[^']*'/g, "''")
    .split(';')
    .map(statement => statement.replace(/\s+/g, ' ').trim())
    .filter(statement => statement !== '')
}
