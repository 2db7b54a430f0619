import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeSignIn, saveSignIn, signInHome } from '../../../../lib/wrapper/agents/codex/sign-in.ts'
import { createSessionFolder } from '../../../../lib/wrapper/home/session-folder.ts'

const hourMs = 60 * 60_000
const notesOf = (tag: string) => ({ tag, server: 's', key: null, metadata: { path: '/p', host: 'h' }, cursor: 0, turn: null })

t.test('a sign-in is stored until its session is gone, or has ended for good', async t => {
  const home = t.testdir()
  const { CODEX_HOME: known = '' } = saveSignIn(home, 'known', 'token of a session')
  const { CODEX_HOME: deleted = '' } = saveSignIn(home, 'deleted', 'token of none')
  const { CODEX_HOME: starting = '' } = saveSignIn(home, 'starting', 'token of one that begins')
  createSessionFolder(home, notesOf('known'))
  const longAgo = new Date(Date.now() - 2 * hourMs)
  for (const folder of [known, deleted]) utimesSync(folder, longAgo, longAgo)
  saveSignIn(home, 'next', 'token of the next')
  t.same([known, deleted, starting].map(existsSync), [true, false, true], 'only one that no session has after an hour is removed')
  t.same([signInHome(home, 'known'), signInHome(home, 'deleted')], [{ CODEX_HOME: known }, {}])

  removeSignIn(home, 'known')
  t.equal(readFileSync(join(known, 'auth.json'), 'utf8'), 'token of a session', 'it may go on')
  removeSignIn(home, 'starting')
  t.notOk(existsSync(join(starting, 'auth.json')), 'no session will need it')
})
