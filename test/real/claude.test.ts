import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { claudeAdapterFolder, lacksPublished, publishedProgram } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import { linkedComputer } from '../wrapper/kit/world.ts'
import { runWrapper } from '../wrapper/kit/wrapper.ts'
import { startFakeModel } from './fake-model.ts'

// The real Claude Code and its real adapter, with a model on loopback. Neither may be in this repository, so
// test/kit/published.ts fetches both. Others can be named: CLAUDE_BIN is the program of @anthropic-ai/claude-code;
// CLAUDE_ADAPTER a folder in which npm installed @agentclientprotocol/claude-agent-acp.
const program = publishedProgram('claude')
const adapter = claudeAdapterFolder()

t.test(
  'Claude Code asks on the phone, writes once allowed, respects a no, and is stopped',
  { skip: lacksPublished('claude'), timeout: 180_000 },
  async t => {
    const server = await startServer(t)
    const { phone, home } = await linkedComputer(t, server)
    if (adapter) symlinkSync(adapter, join(home, 'agents'))
    const folder = t.testdir()
    const model = await startFakeModel(t, (prompt, results) => {
      const file = /write (\S+)/.exec(prompt)?.[1]
      if (results > 0) return [{ type: 'text', text: 'all done' }]
      if (file === undefined) return [{ type: 'text', text: `you said: ${prompt}` }]
      return [
        { type: 'text', text: 'I will write it.' },
        { type: 'tool_use', name: 'Write', input: { file_path: join(folder, file), content: 'from the model\n' } }
      ]
    })
    const startedAt = performance.now()
    const since = () => `${Math.round(performance.now() - startedAt)} ms`
    const wrapper = runWrapper(t, {
      home,
      directory: folder,
      args: ['claude', '--yes', 'write one.txt'],
      env: {
        CLAUDE_CODE_EXECUTABLE: program,
        ANTHROPIC_BASE_URL: model,
        ANTHROPIC_API_KEY: `sk-ant-fake-${'0'.repeat(40)}`,
        CLAUDE_CONFIG_DIR: join(home, 'claude'),
        HOME: home,
        // As root Claude Code takes only "1" for an answer.
        IS_SANDBOX: '',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_AUTOUPDATER: '1'
      }
    })
    const session = await phone.session()
    t.comment(`session on the phone after ${since()}`)
    for (const [file, approved] of [
      ['one.txt', true],
      ['two.txt', false]
    ] as const) {
      if (file !== 'one.txt') await session.say(`write ${file}`)
      await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
      t.comment(`question on the phone after ${since()}`)
      const [[id = '', request] = []] = Object.entries(session.state.requests ?? {})
      t.match(request, { tool: 'Write', kind: 'edit', content: [{ type: 'diff', path: join(folder, file), newText: 'from the model\n' }] })
      const ended = turnsEnded(session)
      const kind = approved ? 'allow_once' : 'reject_once'
      const choice = request?.choices?.find(choice => choice.kind === kind)?.id
      await session.call('permission', {
        id,
        approved,
        ...(choice !== undefined && { choice }),
        ...(request?.shown !== undefined && { shown: request.shown })
      })
      await session.until(session => turnsEnded(session) > ended)
      t.equal(readdirSync(folder).includes(file), approved)
      const end = session.events().find(event => event.t === 'tool-call-end' && event.call === id)
      t.match(end, { status: approved ? 'completed' : 'denied' })
    }
    t.equal(readFileSync(join(folder, 'one.txt'), 'utf8'), 'from the model\n')
    t.ok(texts(session).includes('all done'))
    t.match(session.metadata, { flavor: 'claude', currentOperatingModeCode: 'default' })
    t.comment(memoryOf(wrapper.child.pid ?? 0))
    await session.call('killSession', {})
    t.equal(await wrapper.ended, 0)
  }
)

/** Private memory (PSS) of a process and of everything it started; one of those may end meanwhile. */
function memoryOf(pid: number): string {
  try {
    return memoryNow(pid)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return 'ended'
    throw error
  }
}

function memoryNow(pid: number): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  const pss = /\nPss:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
  const name = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    .split('\0')
    .slice(0, 3)
    .map(part => part.split('/').at(-1))
    .join(' ')
  return [`${Math.round(Number(pss) / 1024)} MB ${name}`, ...children.map(memoryOf)].join('; ')
}
