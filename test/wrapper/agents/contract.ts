import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Agent, AgentEvent, StartAgent } from '../../../lib/wrapper/agents/agent.ts'

export interface AgentUnderTest {
  start(how: StartAgent): Promise<Agent>
  /** A prompt that makes it write `content` to the file, and say `end` then. */
  write(file: string, content: string, end: string): string
  /** A prompt that makes it say the words over that many milliseconds. */
  slow(ms: number, words: string): string
  /** What it calls the mode in which it asks. */
  asking?: string
  /** Of what not every agent has, either how to show it or false: a test then sees that it is not there. */
  has: {
    /** A model and a level of thought that are not those it begins with. */
    choices: { model: string; effort: string } | false
    /** A prompt that makes it ask with a form of which `id` has options and `other` a text, and what it says of the answers. */
    form: { prompt: string; id: string; other: string; said: (value: string, text: string) => RegExp; notSaid: RegExp } | false
    /** A prompt that makes it ask to open this page. */
    link: ((url: string) => string) | false
    /** A prompt after which it says something of the image that came with it. */
    image: { prompt: string; said: RegExp } | false
    /** Takes words into the turn that runs. */
    steering: boolean
    /** What it says when a person says no and why. */
    whyNot?: (reason: string) => RegExp
  }
}

type Of<Type> = Extract<AgentEvent, { type: Type }>

/** What every agent does for the wrapper, over a real process. */
export function testAgent(t: Test, { start, write, slow, has, asking = 'default' }: AgentUnderTest): void {
  const begin = async (t: Test, how: Partial<StartAgent> = {}) => {
    const directory = how.directory ?? t.testdir()
    const agent = await start({ directory, env: { PATH: process.env['PATH'] ?? '', HOME: directory }, ...how })
    t.teardown(() => agent.stop())
    return { agent, directory, talk: listenTo(agent) }
  }

  t.test('it starts in a mode that asks', async t => {
    const { talk } = await begin(t)
    const { modes } = await talk.until('modes')
    t.equal(modes.current, asking)
    t.ok(modes.available.length > 1)
  })

  t.test('a request to start in a mode that it lacks is reported, once', async t => {
    const { agent, talk } = await begin(t, { mode: 'no such mode' })
    const { text } = await talk.until('notice', ({ text }) => text.includes('mode'))
    t.match(text, /^\S.* has no mode “no such mode”; it asks first\.$/)
    t.equal(await agent.setMode('no such mode'), false)
    await agent.prompt(slow(1, 'on'))
    await talk.until('turn-ended')
    t.equal(talk.heard.filter(event => event.type === 'notice' && event.text.includes('mode')).length, 1)
  })

  t.test('a request for the default asking mode is not reported', async t => {
    const { agent, talk } = await begin(t, { mode: 'default' })
    await agent.prompt(slow(1, 'on'))
    await talk.until('turn-ended')
    t.notOk(talk.heard.some(event => event.type === 'notice' && event.text.includes('mode')))
  })

  t.test('it asks before it writes, shows what it would write, and writes once allowed', async t => {
    const { agent, directory, talk } = await begin(t)
    const file = join(directory, 'one.txt')
    writeFileSync(file, 'before\n')
    await agent.prompt(write(file, 'after\n', 'all done'))
    const { asked } = await talk.until('permission-asked')
    t.match(asked.step, { kind: 'edit', content: [{ type: 'diff', path: file, oldText: 'before\n', newText: 'after\n' }] })
    t.match(asked.choices.map(({ kind }) => kind).sort(), ['allow_always', 'allow_once', 'reject_once'])
    t.equal(readFileSync(file, 'utf8'), 'before\n', 'nothing happens while it waits')

    t.equal(agent.answer('another', 'allow'), false)
    t.equal(agent.answer(asked.ask, 'no such choice'), false)
    t.equal(agent.answer(asked.ask, choice(asked, 'allow_once')), true)
    t.equal(agent.answer(asked.ask, choice(asked, 'allow_once')), false, 'an answer counts once')
    t.match(await talk.until('step-ended'), { status: 'completed', step: { call: asked.step.call } })
    t.match(await talk.until('text'), { text: /all done/, thinking: false })
    t.match(await talk.until('turn-ended'), { reason: 'done' })
    t.equal(readFileSync(file, 'utf8'), 'after\n')
  })

  t.test('a no is respected: nothing is written and the step counts as denied', async t => {
    const { agent, directory, talk } = await begin(t)
    const file = join(directory, 'two.txt')
    await agent.prompt(write(file, 'x', 'as you like'))
    const { asked } = await talk.until('permission-asked')
    agent.answer(asked.ask, choice(asked, 'reject_once'))
    t.match(await talk.until('step-ended'), { status: 'denied' })
    await talk.until('turn-ended')
    t.equal(existsSync(file), false)
  })

  t.test('text is shown while it grows, complete at the end, and stops when told to', async t => {
    const { agent, talk } = await begin(t)
    await agent.prompt(slow(20_000, 'one '.repeat(200)))
    const { block, text } = await talk.until('text-grew')
    t.match(text, /^one/)
    await agent.cancel()
    t.match(await talk.until('text'), { block, text: /^one/, isStopped: true })
    t.match(await talk.until('turn-ended'), { reason: 'cancelled' })

    await agent.prompt(slow(10, 'and on'))
    t.match(await talk.until('text'), { text: 'and on' }, 'and it can go on after that')
    t.match(await talk.until('turn-ended'), { reason: 'done' })
  })

  t.test('an open question closes when its turn is stopped', async t => {
    const { agent, directory, talk } = await begin(t)
    const file = join(directory, 'three.txt')
    await agent.prompt(write(file, 'x', 'never'))
    const { asked } = await talk.until('permission-asked')
    await agent.cancel()
    t.match(await talk.until('permission-closed'), { ask: asked.ask })
    t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
    t.equal(agent.answer(asked.ask, choice(asked, 'allow_once')), false)
    t.equal(existsSync(file), false)
  })

  t.test('in a mode that accepts edits it does not ask, and an unknown mode is rejected', async t => {
    const { agent, directory, talk } = await begin(t)
    t.equal(await agent.setMode('no such mode'), false)
    t.equal(await agent.setMode('acceptEdits'), true)
    t.match((await talk.until('modes', ({ modes }) => modes.current !== asking)).modes, { current: 'acceptEdits' })
    const file = join(directory, 'four.txt')
    await agent.prompt(write(file, 'x', 'done'))
    await talk.until('turn-ended')
    t.equal(readFileSync(file, 'utf8'), 'x')
    t.notOk(talk.heard.some(({ type }) => type === 'permission-asked'))
  })

  t.test(
    has.choices ? 'it tells its models and levels of thought, and takes another' : 'it offers no models and no levels of thought',
    async t => {
      const { agent, talk } = await begin(t)
      if (!has.choices) {
        t.not(await agent.setModel?.('any'), true)
        t.not(await agent.setEffort?.('any'), true)
        await agent.prompt(slow(1, 'on'))
        await talk.until('turn-ended')
        t.notOk(talk.heard.some(({ type }) => type === 'options'))
        return
      }
      const { models, efforts } = await talk.until('options')
      const { model, effort } = has.choices
      t.ok(
        models?.available.some(({ id }) => id === models.current),
        'the model of now is one of them'
      )
      t.ok(efforts?.available.some(({ id }) => id === efforts.current))
      t.not(models?.current, model)
      t.not(efforts?.current, effort)
      t.equal(await agent.setModel?.('no such model'), false)
      t.equal(await agent.setEffort?.('no such level'), false)
      t.equal(await agent.setEffort?.(effort), true)
      await talk.until('options', ({ efforts }) => efforts?.current === effort)
      t.equal(await agent.setModel?.(model), true)
      await talk.until('options', ({ models }) => models?.current === model)
    }
  )

  t.test(has.form ? 'it asks with a form, and goes on with the answers' : 'it asks with no form', async t => {
    const { agent, talk } = await begin(t)
    t.not(agent.answerQuestion?.('no such question', {}), true)
    if (!has.form) return
    const { prompt, id, other, said } = has.form
    await agent.prompt(prompt)
    const { asked } = await talk.until('question-asked')
    t.not(asked.title, '')
    const questions = asked.kind === 'form' ? asked.questions : []
    const choosing = questions.find(question => question.id === id)
    t.ok(choosing && choosing.options.length > 1 && choosing.question !== '')
    t.match(
      questions.find(question => question.id === other),
      { options: [], allowsOther: true }
    )
    const value = choosing?.options[0]?.value ?? ''
    t.equal(agent.answerQuestion?.(asked.ask, { [id]: { values: [value] }, [other]: { values: [], other: '7' } }), true)
    t.equal(agent.answerQuestion?.(asked.ask, {}), false, 'an answer counts once')
    t.match((await talk.until('text', ({ thinking }) => !thinking)).text, said(value, '7'))
    t.match(await talk.until('turn-ended'), { reason: 'done' })
    t.notOk(
      talk.heard.some(({ type }) => type === 'question-closed'),
      'what was answered is not closed as well'
    )
  })

  if (has.form) {
    const { prompt, notSaid } = has.form
    t.test('skipping a question lets it continue', async t => {
      const { agent, talk } = await begin(t)
      await agent.prompt(prompt)
      const { asked } = await talk.until('question-asked')
      t.equal(agent.answerQuestion?.(asked.ask, undefined), true)
      t.match((await talk.until('text', ({ thinking }) => !thinking)).text, notSaid)
      t.match(await talk.until('turn-ended'), { reason: 'done' })
    })

    t.test('an open form closes when its turn is stopped', async t => {
      const { agent, talk } = await begin(t)
      await agent.prompt(prompt)
      const { asked } = await talk.until('question-asked')
      await agent.cancel()
      t.match(await talk.until('question-closed'), { ask: asked.ask })
      t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
      t.equal(agent.answerQuestion?.(asked.ask, {}), false)
    })
  }

  t.test(has.link ? 'it asks to open a page, and goes on once somebody did' : 'it asks to open no page', async t => {
    const { agent, talk } = await begin(t)
    if (!has.link) return
    await agent.prompt(has.link('https://example.org/page'))
    const { asked } = await talk.until('question-asked')
    t.match(asked, { kind: 'link', url: 'https://example.org/page' })
    t.equal(agent.answerQuestion?.(asked.ask, {}), true)
    t.match(await talk.until('turn-ended'), { reason: 'done' })
  })

  t.test(has.image ? 'it gets the images of a prompt' : 'it says that it takes no images', async t => {
    const { agent, talk } = await begin(t)
    t.equal(agent.takesImages ?? false, has.image !== false)
    if (!has.image) return
    await agent.prompt(has.image.prompt, [{ mimeType: 'image/png', bytes: onePixel }])
    t.match((await talk.until('text', ({ thinking }) => !thinking)).text, has.image.said)
    t.match(await talk.until('turn-ended'), { reason: 'done' })
  })

  t.test(has.steering ? 'it takes words into the turn that runs' : 'it takes no words into the turn that runs', async t => {
    const { agent, talk } = await begin(t)
    t.equal(agent.steer !== undefined, has.steering)
    if (!agent.steer) return
    t.equal(await agent.steer('nothing runs'), false)
    await agent.prompt(slow(20_000, 'one '.repeat(200)))
    await talk.until('text-grew')
    t.equal(await agent.steer(slow(1, 'two')), true)
    await talk.until('text', ({ text }) => text.includes('two'))
    t.match(await talk.until('turn-ended'), { reason: 'done' })
    t.equal(talk.heard.filter(({ type }) => type === 'turn-ended').length, 1)
  })

  t.test(has.whyNot ? 'it hears why a person said no, and goes on' : 'a reason for a no does no harm', async t => {
    const { agent, directory, talk } = await begin(t)
    await agent.prompt(write(join(directory, 'not.txt'), 'x', 'all done'))
    const { asked } = await talk.until('permission-asked')
    t.equal(agent.answer(asked.ask, choice(asked, 'reject_once'), 'better as Ann does'), true)
    if (!agent.hearsReasons) t.equal(await agent.steer?.('better as Ann does'), has.whyNot && true)
    if (has.whyNot) t.match((await talk.until('text', ({ text }) => text.includes('Ann'))).text, has.whyNot('better as Ann does'))
    await talk.until('turn-ended')
    t.equal(existsSync(join(directory, 'not.txt')), false)
    t.match(
      talk.heard.find(event => event.type === 'step-ended'),
      { status: 'denied' }
    )
  })

  t.test('a conversation continues in another process, and its past is not sent again', async t => {
    const directory = t.testdir()
    const first = await begin(t, { directory })
    await first.agent.prompt(slow(1, 'remember me'))
    await first.talk.until('turn-ended')
    await first.agent.stop()
    const { agent, talk } = await begin(t, { directory, resume: first.agent.conversation })
    t.equal(agent.conversation, first.agent.conversation)
    await agent.prompt(slow(1, 'second'))
    await talk.until('turn-ended')
    t.strictSame(
      talk.heard.flatMap(event => (event.type === 'text' ? event.text : [])),
      ['second']
    )
  })

  t.test('once stopped it emits nothing, and every call is harmless', async t => {
    const { agent, talk } = await begin(t)
    await agent.prompt(slow(20_000, 'one '.repeat(200)))
    await talk.until('text-grew')
    await agent.stop()
    t.match(await talk.until('turn-ended'), { reason: 'cancelled' })
    t.equal(await talk.end, undefined)
    await agent.prompt('more')
    t.not(await agent.steer?.('more'), true)
    t.not(await agent.setModel?.('any'), true)
    t.not(agent.answerQuestion?.('x', {}), true)
    await agent.cancel()
    t.equal(agent.answer('x', 'y'), false)
    t.equal(await agent.setMode('default'), false)
    await agent.stop()
  })
}

/** A PNG of one pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64'
)

/** Reads the events of an agent and lets a test wait for them, one after the other. */
export function listenTo(agent: Agent) {
  const heard: AgentEvent[] = []
  let read = 0
  let wake = () => {}
  const end = (async () => {
    for await (const event of agent.events) {
      heard.push(event)
      wake()
    }
  })()
  end.then(
    () => wake(),
    () => wake()
  )
  return {
    heard,
    /** Resolves when the agent ended as asked; rejects when it ended by itself. */
    end,
    /** The next event of this kind after the one that was waited for last. */
    async until<Type extends AgentEvent['type']>(type: Type, when: (event: Of<Type>) => boolean = () => true): Promise<Of<Type>> {
      for (;;) {
        for (; read < heard.length; read++) {
          const event = heard[read]
          if (event && isOf(event, type) && when(event)) {
            read++
            return event
          }
        }
        await new Promise<void>(resolve => (wake = resolve))
      }
    }
  }
}

function isOf<Type extends AgentEvent['type']>(event: AgentEvent, type: Type): event is Of<Type> {
  return event.type === type
}

export function choice({ choices }: Of<'permission-asked'>['asked'], kind: string): string {
  return choices.find(choice => choice.kind === kind)?.id ?? ''
}
