import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startServer } from '../../lib/wrapper/agents/opencode/server.ts'
import { startShared } from '../../lib/wrapper/agents/opencode/shared-opencode.ts'
import { lacksPublished, publishedProgram } from '../kit/needs.ts'
import { listenTo } from '../wrapper/agents/contract.ts'
import { startFakeOpenAi } from './fake-openai-model.ts'

// The real opencode, with a line to its server that is cut when the test says so.
const program = publishedProgram('opencode')
const how = { skip: lacksPublished('opencode'), timeout: 300_000 }
t.setTimeout(600_000)

async function begin(t: Test) {
  const home = t.testdir()
  const directory = join(home, 'code')
  mkdirSync(directory)
  const options = ['red', 'blue'].map(label => ({ label, description: `it is ${label}` }))
  const model = await startFakeOpenAi(t, (prompt, results) => {
    if (results > 0) return [{ type: 'text', text: 'all done' }]
    if (/ask me/.test(prompt))
      return [{ type: 'call', name: 'question', input: { questions: [{ question: 'Which colour?', header: 'Colour', options }] } }]
    return [{ type: 'call', name: 'write', input: { filePath: join(directory, 'one.txt'), content: 'x\n' } }]
  })
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Fake',
    options: { baseURL: model, apiKey: 'none' },
    models: { m: { name: 'Fake M', limit: { context: 100_000, output: 8000 } } }
  }
  const config = { provider: { fake: provider }, enabled_providers: ['fake'], model: 'fake/m', permission: { edit: 'ask' } }
  writeFileSync(join(directory, 'opencode.json'), JSON.stringify(config))
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1'
  }
  const server = await startServer({ program, directory, env })
  let cut = Promise.withResolvers<void>()
  let mended = Promise.resolve()
  const agent = await startShared({
    server: {
      ...server,
      async listen(onEvent, onOpen) {
        await mended
        let isWhole = true
        await Promise.race([server.listen(event => isWhole && onEvent(event), onOpen), cut.promise])
        isWhole = false
      }
    },
    program,
    how: { directory, env }
  })
  t.teardown(() => agent.stop())
  /** Returns what mends it. */
  const cutLine = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    mended = promise
    cut.resolve()
    cut = Promise.withResolvers()
    return resolve
  }
  const waits = async (what: 'permission' | 'question') => {
    const { permissions, questions } = await import('../../lib/wrapper/agents/opencode/shapes.ts')
    for (;;) {
      const [first] = await server.get(`/${what}`, what === 'permission' ? permissions : questions)
      if (first) return first.id
    }
  }
  return { agent, talk: listenTo(agent), server, directory, cutLine, waits }
}

t.test('requests made by opencode while its connection is cut are found again, and those answered meanwhile are over', how, async t => {
  const { agent, talk, server, directory, cutLine, waits } = await begin(t)
  let mend = cutLine()
  await agent.prompt('write it')
  const id = await waits('permission')
  mend()
  const { asked } = await talk.until('permission-asked')
  t.equal(asked.ask, id)
  t.match(asked.step, { name: 'Write', content: [{ type: 'diff', newText: 'x\n' }] })

  mend = cutLine()
  await server.send('POST', `/permission/${id}/reply`, { reply: 'once' })
  const isWritten = () => existsSync(join(directory, 'one.txt'))
  while (!isWritten()) await new Promise(resolve => setImmediate(resolve))
  mend()
  t.match(await talk.until('permission-closed'), { ask: id, approved: true })
  t.match(await talk.until('turn-ended'), { reason: 'done' })

  mend = cutLine()
  await agent.prompt('ask me')
  const question = await waits('question')
  mend()
  const form = await talk.until('question-asked')
  t.equal(form.asked.ask, question)
  t.equal(agent.answerQuestion?.(question, { 0: { values: ['blue'] } }), true)
  t.match(await talk.until('turn-ended'), { reason: 'done' })
})
