import t from 'tap'
import { createAnnouncer } from '../../../../web/session/transcript/announcer.ts'
import { type StepStart, tell } from '../../stories/fixtures.ts'

const none = new Set<string>()
const command: StepStart = { kind: 'execute', args: { command: 'npm test' } }

function listening() {
  const heard: string[] = []
  let waiting: (() => void) | undefined
  const announcer = createAnnouncer(
    ({ steps, running }) => heard.push(`${steps} steps, now ${running?.args['command']}`),
    (ms, then) => {
      t.equal(ms, 5_000)
      waiting = then
      return () => {
        waiting = undefined
      }
    }
  )
  const pass = () => waiting?.()
  return { heard, announcer, pass, isWaiting: () => waiting !== undefined }
}

t.test('steps are announced together, at most every 5 s, with the current one', async t => {
  const { heard, announcer, pass } = listening()
  const story = tell().mine('Test it').turn()
  announcer.take(story.done().items, true, none)
  for (const seconds of [1, 1, undefined]) announcer.take(story.step(command, seconds).done().items, true, none)
  t.same(heard, [])
  pass()
  t.same(heard, ['3 steps, now npm test'])
  announcer.take(story.done().items, true, none)
  t.same(heard.length, 1, 'announced steps are not announced again')
})

t.test('earlier messages, those missed while offline, and older pages are not announced', async t => {
  const { heard, announcer, isWaiting } = listening()
  const story = tell().mine('Test it').turn().say('One').step(command, 1)
  announcer.take(story.done().items, true, none)
  announcer.take(story.say('Two').done().items, false, none)
  announcer.take(story.step(command, 1).done().items, true, none)
  const all = tell().mine('Before').say('Long ago').done().items
  announcer.take([...all.map(item => ({ ...item, seq: 0 })), ...story.done().items], true, none)
  t.same(heard, [])
  t.equal(isWaiting(), false)
})

t.test('a step that waits for a person, or that they denied, is not announced as running', async t => {
  const { heard, announcer, pass } = listening()
  const story = tell().mine('Test it').turn()
  announcer.take(story.done().items, true, none)
  const running = story.step({ ...command, call: 'runs' }).done().items
  const asking = story.step({ kind: 'execute', args: { command: 'rm -rf dist' }, call: 'asks' }).done().items
  announcer.take(running, true, none)
  announcer.take(asking, true, new Set(['asks']))
  pass()
  t.same(heard, ['2 steps, now npm test'])
})
