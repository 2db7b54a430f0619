import { chmodSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openOpencodeHistories } from '../../../lib/wrapper/histories/opencode.ts'

/** A home of opencode, whose program answers with this and notes what it was asked. */
function opencode(t: Test, { isInOwnFolder = false } = {}) {
  const home = t.testdir({ '.local': { share: { opencode: {} } }, answer: '[]', asked: '' })
  const program = join(home, 'opencode')
  writeFileSync(program, '#!/bin/sh\nprintf "%s\\n" "$*" >> "$ORCHARD/asked"\ncat "$ORCHARD/answer"\n')
  chmodSync(program, 0o755)
  const share = join(home, '.local', 'share')
  const env = {
    PATH: process.env['PATH'] ?? '',
    OPENCODE_BIN_PATH: program,
    // Only what it is given tells it where that is.
    ORCHARD: home,
    ...(isInOwnFolder ? { XDG_DATA_HOME: share } : { HOME: home })
  }
  const database = join(share, 'opencode', 'opencode.db')
  return {
    histories: openOpencodeHistories(env),
    answer: (rows: unknown) => writeFileSync(join(home, 'answer'), typeof rows === 'string' ? rows : JSON.stringify(rows)),
    /** As it was at this second. */
    write: (second: number, name: 'db' | 'db-wal' = 'db') => {
      const file = name === 'db' ? database : `${database}-wal`
      writeFileSync(file, 'rows')
      utimesSync(file, second, second)
    },
    asked: () => readFileSync(join(home, 'asked'), 'utf8')
  }
}

const timesAsked = (asked: string) => asked.split('db --format json').length - 1
const row = { id: 'ses_1', at: 5, title: 'Plant', folder: '/srv/orchard' }
const listed = { agent: 'opencode', id: 'ses_1', at: 5, beginning: { title: 'Plant', folder: '/srv/orchard' } }

t.test('the conversations of opencode are asked for once until its database is written to', async t => {
  for (const isInOwnFolder of [false, true]) {
    const { histories, answer, write, asked } = opencode(t, { isInOwnFolder })
    answer([row])
    t.strictSame(await histories.list(), [], 'it never ran here')
    write(1)
    t.strictSame(await histories.list(), [listed])
    await histories.list()
    t.equal(timesAsked(asked()), 1)
    write(2)
    answer([])
    t.strictSame(await histories.list(), [])
    write(3, 'db-wal')
    await histories.list()
    t.equal(timesAsked(asked()), 3, 'also if it is only in its journal')
  }
})

t.test('opencode may have thousands of conversations', async t => {
  const { histories, answer, write } = opencode(t)
  answer(Array.from({ length: 3_000 }, (_, index) => ({ ...row, id: `ses_${index}`, title: 'Plant '.repeat(100) })))
  write(1)
  t.equal((await histories.list()).length, 3_000)
})

t.test('a version of opencode that stores its conversations otherwise has none, and cannot be searched', async t => {
  const { histories, answer, write } = opencode(t)
  t.strictSame(await histories.search(['plant']), [], 'it never ran here')
  write(1)
  for (const odd of [[{ ...row, at: 'now' }], '{"damaged']) {
    answer(odd)
    t.strictSame(await histories.list(), [])
    await t.rejects(histories.search(['plant']))
  }
})

t.test('what was said is found by the words that its database can compare', async t => {
  const { histories, answer, write, asked } = opencode(t)
  write(1)
  answer([
    { id: 'ses_1', role: 'user', text: 'Plant' },
    { id: 'ses_1', role: 'assistant', text: 'Planted' }
  ])
  t.strictSame(await histories.search(["mira's", 'größe', 'a"b', 'a\\b']), [
    { id: 'ses_1', by: 'person', text: 'Plant' },
    { id: 'ses_1', by: 'agent', text: 'Planted' }
  ])
  t.match(asked(), "and instr(lower(part.data), 'mira''s') > 0 order by")
  t.equal(asked().split('instr').length, 2)
})
