import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { read } from '../../kit/claude.ts'
import { texts, turnsEnded } from '../../kit/demo.ts'
import { fakeOpencode, opencodeAtTerminal } from '../../kit/opencode.ts'
import type { PhoneSession } from '../../kit/phone.ts'
import { noneRuns, running } from '../../kit/running.ts'

// A fake opencode with its screen on a real terminal; test/real has the same with the real one.
const how = { timeout: 90_000, skip: process.platform !== 'linux' && 'it looks into /proc' }

t.test('messages from either side are on the other, once and in order', how, async t => {
  const { terminal, session, written } = await opencodeAtTerminal(t)
  terminal.type('from the desk\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('from the phone')
  await session.until(session => turnsEnded(session) === 2)
  await terminal.sees(/< you said: from the phone/)
  t.strictSame(read(session), [
    'user: from the desk',
    'assistant: you said: from the desk',
    'user: from the phone',
    'assistant: you said: from the phone'
  ])
  t.strictSame(read(session), written(session.metadata.agentSessionId ?? ''))
  terminal.type('/exit\r')
  t.equal(await terminal.ended, 0, terminal.screen)
})

t.test('a question is open on both sides, and the first answer closes it on the other', how, async t => {
  const { terminal, session, directory } = await opencodeAtTerminal(t)
  const file = join(directory, 'one.txt')
  await session.say(`write ${file} "x" end done`)
  const id = await question(session)
  await terminal.sees(/\? .*one\.txt/)
  await session.call('permission', { id, approved: true })
  await terminal.sees(/! answered/)
  await session.until(session => turnsEnded(session) === 1)
  t.equal(readFileSync(file, 'utf8'), 'x')
  await session.say(`write ${file} "y" end done`)
  await question(session)
  await terminal.sees(/! answered[\s\S]*\? .*one\.txt/)
  terminal.type('\r')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(readFileSync(file, 'utf8'), 'y')
  const answered = Object.values(session.state.completedRequests ?? {}).map(({ status, answeredBy }) => ({ status, answeredBy }))
  t.match(answered, [{ status: 'approved' }, { status: 'approved', answeredBy: 'the terminal' }])
})

t.test('switching to another conversation at the screen switches the phone too', how, async t => {
  const { terminal, session } = await opencodeAtTerminal(t)
  const first = session.metadata.agentSessionId
  terminal.type('/new\r')
  await terminal.sees(/a new one/)
  terminal.type('in the new one\r')
  await session.until(session => turnsEnded(session) === 1)
  await session.until(({ metadata }) => metadata.agentSessionId !== first)
  await session.say('along')
  await terminal.sees(/> along/)
})

for (const victim of ['wrapper', 'server', 'screen'] as const) {
  t.test(`when its ${victim} is killed mid-turn, nothing is lost or duplicated, and nothing is left running [W1, X1]`, how, async t => {
    const { terminal, session, sitDown, written, own } = await opencodeAtTerminal(t)
    const told = (round: string) => texts(session).filter(text => text.startsWith(round)).length
    terminal.type('many 20 typed\r')
    await session.until(session => turnsEnded(session) === 1)
    await session.say('many 200 said')
    await session.until(() => told('said') >= 5)
    const kind = victim === 'server' ? 'serve' : 'attach'
    if (victim === 'wrapper') terminal.kill('SIGKILL')
    else
      for (const { pid, args } of running(fakeOpencode, own))
        if (args.includes(kind) && !args.includes('/bin/sh')) process.kill(pid, 'SIGKILL')
    if (victim === 'screen') {
      await session.until(session => turnsEnded(session) === 2)
      terminal.type(' ')
      await terminal.sees(/< said 200[\s\S]*ready/)
    } else await terminal.ended
    if (victim !== 'screen') await noneRuns(fakeOpencode, own)
    const now = victim === 'screen' ? terminal : sitDown(['resume', session.id])
    if (victim !== 'screen') await now.sees(/ready/)
    now.type('the last words\r')
    await session.until(session => texts(session).includes('you said: the last words'))
    now.type('/exit\r')
    t.equal(await now.ended, 0, now.screen)
    await noneRuns(fakeOpencode, own)
    const of = (who: string, lines: string[]) => lines.filter(line => line.startsWith(who))
    const kept = written(session.metadata.agentSessionId ?? '')
    const onPhone = of('assistant', read(session))
    t.strictSame(onPhone, of('assistant', kept))
    t.strictSame(of('user', read(session)), of('user', kept))
    const events = session.events().map(({ t }) => t)
    const count = (of: string) => events.filter(t => t === of).length
    t.equal(count('turn-start'), count('turn-end'), 'every turn that began has one end')
  })
}

t.test('a server that refuses to exit does not outlive its wrapper', how, async t => {
  const { terminal, own } = await opencodeAtTerminal(t, { FAKE_STAYS: '1' })
  t.teardown(() => {
    for (const { pid } of running(fakeOpencode, own)) process.kill(pid, 'SIGKILL')
  })
  terminal.kill('SIGKILL')
  await terminal.ended
  await noneRuns(fakeOpencode, own)
})

t.test('a half-written text at the death of its server is marked as cut off, and its turn ends once [W1]', how, async t => {
  const { terminal, session, sitDown, written, own } = await opencodeAtTerminal(t)
  await session.say(`slow 60000 ${'word '.repeat(600)}`)
  await session.until(({ partials }) => partials.some(({ text }) => text.startsWith('word word')))
  for (const { pid, args } of running(fakeOpencode, own))
    if (args.includes('serve') && !args.includes('/bin/sh')) process.kill(pid, 'SIGKILL')
  await terminal.ended
  const again = sitDown(['resume', session.id])
  await again.sees(/ready/)
  await session.say('and on')
  await session.until(session => texts(session).includes('you said: and on'))
  const halves = session.events().flatMap(event => (event.t === 'text' && event.cut ? event.text : []))
  t.equal(halves.length, 1)
  t.match(halves[0], /^word word/)
  t.strictSame(read(session), written(session.metadata.agentSessionId ?? ''))
  await session.until(session => turnsEnded(session) === 2)
  t.equal(session.events().filter(({ t }) => t === 'turn-start').length, 2)
  again.type('/exit\r')
  await again.ended
})

async function question(session: PhoneSession): Promise<string> {
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  return id
}
