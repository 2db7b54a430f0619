import type { PermissionRequest } from '../../../lib/protocol/sealed/session.ts'
import type { Answered, OpenRequest } from '../../../web/model/decisions/decisions.ts'
import { callback, folder, tell } from './fixtures.ts'

export const work = () =>
  tell()
    .mine('After SSO people land on /home. Find out why, fix it, add a test.')
    .wait(2)
    .turn()
    .wait(3)
    .say('The state cookie carries `returnTo`, but the callback never reads it. I will use it, for paths on our own origin only.')

export const looked = () =>
  work()
    .step({ kind: 'read', args: {}, locations: [`${folder}/src/auth/callback.ts`] }, 2)
    .step({ kind: 'search', args: { pattern: 'returnTo' } }, 3)
    .step({ kind: 'read', args: {}, locations: [`${folder}/src/auth/session.ts`] }, 4)
    .step({ kind: 'read', args: {}, locations: [`${folder}/src/auth/state.ts`] }, 4)
    .step({ kind: 'search', args: { pattern: 'readState' } }, 4)
    .step({ kind: 'read', args: {}, locations: [`${folder}/test/auth.test.ts`] }, 4)

export const plan = (story: ReturnType<typeof tell>) =>
  story.plan(
    ['Find where returnTo is dropped', 'completed'],
    ['Validate the path before redirecting', 'completed'],
    ['Keep it through the SSO round trip', 'completed'],
    ['Regression test', 'in_progress'],
    ['Note in CHANGELOG', 'pending']
  )

export const edited = () =>
  looked().step({ call: 'edit1', kind: 'edit', args: {}, content: [{ type: 'diff', ...callback }] }, 2, {
    status: 'completed',
    content: [{ type: 'diff', ...callback }]
  })

export const allowed: Answered = {
  id: 'p0',
  call: 'edit1',
  tool: 'Edit',
  args: {},
  title: undefined,
  outcome: 'allowed-session',
  reason: undefined,
  by: 'This phone',
  at: Date.now() - 5 * 60_000
}

export function request(id: string, of: Partial<PermissionRequest> & { tool: string }): OpenRequest {
  return { id, arguments: {}, createdAt: Date.now() - 130_000, shown: `h${id}`, ...of }
}

export const choices = [
  { id: 'a', label: 'Yes', kind: 'allow_once' as const },
  { id: 'b', label: 'Yes, and don’t ask again for npm commands in orchard-api', kind: 'allow_always' as const },
  { id: 'c', label: 'No', kind: 'reject_once' as const }
]
export const run = (id: string, command: string, more: Partial<PermissionRequest> = {}) =>
  request(id, { tool: 'Bash', kind: 'execute', arguments: { command }, choices, toolUseId: 'wait1', ...more })

export const waits = (command: string) =>
  tell()
    .mine('Ship 2.4.1 with the SSO fix. Tag it, publish, deploy.')
    .turn()
    .step({ kind: 'execute', args: { command: 'npm run build' } }, 31, {
      status: 'completed',
      content: [{ type: 'text', text: 'built in 31 s\nexit code: 0' }]
    })
    .step(
      {
        kind: 'edit',
        args: {},
        content: [
          {
            type: 'diff',
            path: `${folder}/scripts/deploy.sh`,
            oldText: 'case "$1" in\n  staging) push "$STAGING" ;;\nesac\nexit 0\nold\n',
            newText:
              'case "$1" in\n  staging) push "$STAGING" --keep ;;\n  production) push "$PROD" --delete\n    purge_cdn ;;\nesac\nexit 0\nold\n'
          }
        ]
      },
      3
    )
    .step({ call: 'wait1', kind: 'execute', args: { command } })
    .done()

export const force = 'git push --force-with-lease origin main\n  && ./scripts/deploy.sh production'
