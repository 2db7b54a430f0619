import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createHeadlessProbe } from '../../../../lib/wrapper/agents/claude/headless-probe.ts'

t.test('waiting for a Claude Code that stays silent and leaves a child behind is bounded', async t => {
  const directory = t.testdir()
  const claude = join(directory, 'claude')
  // What it has started holds its output open.
  writeFileSync(claude, '#!/bin/sh\nsleep 30 &\nsleep 30\n')
  chmodSync(claude, 0o700)
  const probe = createHeadlessProbe({ claude, directory, env: { PATH: process.env['PATH'] ?? '' }, withinMs: 200 })
  t.same(await probe.commands(), [])
  t.equal(await probe.commandIn('/compact'), undefined)
})

t.test('a Claude Code that cannot be started returns nothing', async t => {
  const directory = t.testdir()
  for (const claude of [join(directory, 'nothing'), 'no\0program']) {
    const probe = createHeadlessProbe({ claude, directory, env: {} })
    t.same(await probe.commands(), [])
    t.equal(await probe.windowOf('a model'), undefined)
  }
})

const isScript = { skip: process.platform === 'win32' && 'the program is a script' }

t.test('it is asked once for its commands, and once for each other model', isScript, async t => {
  const { probe, runs } = answering(t, {
    commands: [
      { name: 'review', description: 'Looks', builtin: true },
      { name: 'mine', description: 5 },
      { name: 'two words' },
      { name: 'clear' },
      { name: 'mcp' }
    ],
    model: 'deep',
    rawMaxTokens: 100
  })
  const commands = [
    { name: 'review', description: 'Looks' },
    { name: 'mine', description: undefined }
  ]
  t.strictSame(await probe.commands(), commands, 'as its adapter lists them')
  t.strictSame(await probe.commands(), commands)
  t.equal(await probe.windowOf('deep'), 100)
  t.strictSame(runs().map(modelIn), [undefined])
  t.equal(await probe.windowOf('quick'), 100)
  t.equal(await probe.windowOf('quick'), 100)
  t.strictSame(runs().map(modelIn), [undefined, 'quick'])
  for (const run of runs()) t.match(run, '--no-session-persistence', 'nothing of it is recorded')
})

t.test('a text is a command if it begins with one; which goes to the model is known as far as it says', isScript, async t => {
  const marked = [{ name: 'compact', builtin: true }, { name: 'goal', builtin: true }, { name: 'review', builtin: true }, { name: 'mine' }]
  const skills = { skillFrontmatter: [{ name: 'review' }] }
  const cases: [text: string, answer: object, what: 'prompt' | 'other' | undefined][] = [
    ['hello', { commands: marked }, undefined],
    ['/unheard', { commands: marked }, undefined],
    ['see /mine', { commands: marked }, undefined],
    ['/', { commands: marked }, undefined],
    ['/compact', { commands: marked, skills }, 'other'],
    ['/review this', { commands: marked, skills }, 'prompt'],
    ['/review\nthis', { commands: marked, skills }, 'prompt'],
    ['/review this', { commands: marked }, 'other'],
    ['/mine', { commands: marked }, 'prompt'],
    ['/mine', { commands: [{ name: 'mine' }, { name: 'compact' }] }, 'other'],
    ['/goal Tea', { commands: marked }, 'prompt'],
    ['/goal', { commands: marked }, 'other'],
    ['/goal clear ', { commands: marked }, 'other'],
    ['/goal clear it', { commands: marked }, 'prompt'],
    [`/mine ${'x'.repeat(494)}`, { commands: marked }, 'prompt'],
    [`/mine ${'x'.repeat(495)}`, { commands: marked }, 'other'],
    ['/clear', { commands: [{ name: 'clear' }] }, undefined]
  ]
  for (const [text, answer, what] of cases) t.equal(await answering(t, answer).probe.commandIn(text), what, text.slice(0, 40))
})

t.test('it hears both questions in the form that it knows, and no more once it has answered', isScript, async t => {
  const answer = JSON.stringify({ type: 'control_response', response: {} })
  const { probe, directory } = programmed(t, `read -r one; read -r two\necho "$one\n$two" > asked\necho '${answer}\n${answer}'\ncat > rest`)
  t.strictSame(await probe.commands(), [])
  const asked = readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n')
  t.strictSame(
    asked.map(line => JSON.parse(line)),
    [
      { type: 'control_request', request_id: 'commands', request: { subtype: 'initialize', hooks: {} } },
      { type: 'control_request', request_id: 'window', request: { subtype: 'get_context_usage', detail: 'summary' } }
    ]
  )
  t.equal(readFileSync(join(directory, 'rest'), 'utf8'), '')
})

/** A Claude Code that gives this answer to both questions, and notes its arguments. */
function answering(t: Test, response: object) {
  const answer = JSON.stringify({ type: 'control_response', response: { response } })
  const { probe, directory } = programmed(t, `echo "$*" >> runs\ncat <<'END'\nno answer\n${answer}\n${answer}\nEND`)
  return { probe, runs: () => readFileSync(join(directory, 'runs'), 'utf8').trim().split('\n') }
}

function programmed(t: Test, script: string) {
  const directory = t.testdir()
  const claude = join(directory, 'claude')
  writeFileSync(claude, `#!/bin/sh\n${script}\n`)
  chmodSync(claude, 0o700)
  return { directory, probe: createHeadlessProbe({ claude, directory, env: { PATH: process.env['PATH'] ?? '' } }) }
}

function modelIn(run: string): string | undefined {
  return /--model (\S+)/.exec(run)?.[1]
}
