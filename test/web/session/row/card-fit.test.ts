import t from 'tap'
import type { OpenRequest } from '../../../../web/model/decisions/decisions.ts'
import { subjectOf } from '../../../../web/session/decide/subject.ts'
import { holdsWhole } from '../../../../web/session/row/card-fit.ts'
import { diffFile } from '../../../../web/session/text/diff-lines.ts'
import { callback, folder } from '../../stories/fixtures.ts'

const choices: OpenRequest['choices'] = [
  { id: 'a', label: 'Yes', kind: 'allow_once' },
  { id: 'c', label: 'No', kind: 'reject_once' }
]
const plain = { level: 'plain' as const, reasons: [], knowsEdits: true }
const run = (command: string, more: Partial<OpenRequest> = {}): OpenRequest => ({
  id: 'p1',
  createdAt: 1,
  tool: 'Bash',
  kind: 'execute',
  arguments: { command },
  shown: 'h',
  risk: plain,
  choices,
  ...more
})
const edit = (more: Partial<OpenRequest> = {}, diff: object = {}): OpenRequest => ({
  ...run('', { tool: 'Edit', kind: 'edit', arguments: {} }),
  content: [{ type: 'diff', ...callback, ...diff }],
  locations: [callback.path],
  ...more
})
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')

const cases: readonly [what: string, request: OpenRequest, isHeld: boolean][] = [
  ['a plain command', run('npm run build'), true],
  ['a small plain edit', edit(), true],
  ['an edit of which not all that was changed before is known, for it runs nothing', edit({ risk: { ...plain, knowsEdits: false } }), true],
  ['a command of which that is not known', run('npm run build', { risk: { ...plain, knowsEdits: false } }), false],
  ['a command of a wrapper that says nothing about it', run('npm run build', { risk: undefined }), false],
  ['what the machine finds careful', run('npm run build', { risk: { ...plain, level: 'careful' } }), false],
  ['what the machine finds risky', run('./build.sh', { risk: { level: 'risky', reasons: ['runs-edited'], knowsEdits: true } }), false],
  ['what this device finds risky', run('rm -rf /srv'), false],
  ['what this device finds careful', run('npm install left-pad'), false],
  ['a command that hides something', run('echo \u202e safe'), false],
  ['an edit of secrets', edit({ locations: [] }, { path: `${folder}/.env` }), false],
  ['an edit outside of the folder', edit({ locations: [] }, { path: '/etc/hosts' }), false],
  ['a long command', run(`echo ${'x'.repeat(300)}`), false],
  ['a command of many lines', run(lines(7).replaceAll('line', 'echo')), false],
  ['a command in another directory', run('ls', { arguments: { command: 'ls', cwd: `${folder}/packages` } }), false],
  ['a command with more to it', run('ls', { arguments: { command: 'ls', dangerouslyDisableSandbox: true } }), false],
  ['a large edit', edit({}, { oldText: '', newText: lines(13) }), false],
  ['an edit with a long line', edit({}, { oldText: '', newText: 'x'.repeat(200) }), false],
  [
    'an edit of two files',
    edit({ content: [callback, { ...callback, path: `${folder}/b.ts` }].map(diff => ({ type: 'diff' as const, ...diff })) }),
    false
  ],
  ['an edit that touches one more file', edit({ locations: [callback.path, `${folder}/other.ts`] }), false],
  ['what is not bound to what was shown', run('npm run build', { shown: undefined }), false],
  ['a plan', run('', { tool: 'ExitPlanMode', kind: 'plan', arguments: { plan: 'x' } }), false],
  ['another tool', run('', { tool: 'mcp__x__y', kind: 'other', arguments: {} }), false]
]

t.test('a card decides only plain requests that fit it completely [acceptance 1]', async t => {
  for (const [what, request, isHeld] of cases) t.equal(holdsWhole(request, subjectOf(request, folder), diffFile), isHeld, what)
  t.equal(holdsWhole(edit(), subjectOf(edit(), folder), undefined), false, 'nor content that cannot be rendered yet')
})
