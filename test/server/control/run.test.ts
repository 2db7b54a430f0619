import t from 'tap'
import { CannotStart, exitCodes } from '../../../lib/exit.ts'
import { failure } from '../../../lib/protocol/wire/failures.ts'
import type { ControlDeps } from '../../../lib/server/control/command.ts'
import { runCommand, sentenceOf } from '../../../lib/server/control/run.ts'
import { StoreBusy } from '../../../lib/store/store.ts'

t.test('a request that does not fit its command is rejected in one sentence, and nothing runs', async t => {
  const run = (name: Parameters<typeof runCommand>[1], ask: unknown) => runCommand({} as ControlDeps, name, ask, () => {})
  await t.rejects(run('removeUser', {}), { name: 'CannotStart', message: /^Invalid input for removeUser: value\.id .+\.$/ })
  await t.rejects(run('listUsers', { more: 1 }), { message: /^Invalid input for listUsers: value\.more .+\.$/ })
  await t.rejects(run('createToken', { name: 'x', scopes: [] }), { message: /^Invalid input for createToken: value\.scopes .+\.$/ })
})

t.test('what a person is told of an error has the exit code that a supervisor reads', async t => {
  const table: [error: unknown, told: object | undefined][] = [
    [new CannotStart('No.'), { says: 'No.', exitCode: exitCodes.configuration }],
    [new CannotStart('Later.', 75), { says: 'Later.', exitCode: 75 }],
    [failure('invite-not-found'), { says: failure('invite-not-found').message, exitCode: 1 }],
    [failure('bad-input', 'in detail'), { says: 'in detail', exitCode: 1 }],
    [failure('storage-full'), { says: failure('storage-full').message, exitCode: exitCodes.storage }],
    [failure('row-damaged'), { says: failure('row-damaged').message, exitCode: exitCodes.storage }],
    [new Error('a bug'), undefined]
  ]
  for (const [error, told] of table) t.strictSame(sentenceOf(error), told)
  t.match(sentenceOf(new StoreBusy('away')), { exitCode: exitCodes.storage })
})
