// The screen of the fake Codex: lines of text, a prompt, and a dialog that 1 and 2 answer.
import { realpathSync } from 'node:fs'

export async function drawScreen({ address, resume }) {
  const { Agent, WebSocket } = await import('undici')
  const socket = new WebSocket('ws://localhost/', { dispatcher: new Agent({ connect: { socketPath: realpathSync(address) } }) })
  await new Promise(resolve => socket.addEventListener('open', resolve))
  const answers = new Map()
  let last = 0
  let thread = resume
  let typed = ''
  let dialog
  const write = text => process.stdout.write(`${text.replaceAll('\n', '\r\n')}\r\n`)
  const send = message => socket.send(JSON.stringify(message))
  const request = (method, params) =>
    new Promise(resolve => {
      answers.set(++last, resolve)
      send({ id: last, method, params })
    })
  socket.addEventListener('close', () => process.exit(1))
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result } = JSON.parse(data)
    if (method === undefined) return answers.get(id)?.(result)
    if (params?.threadId !== thread) return
    if (method.endsWith('requestApproval')) {
      dialog = id
      write('May I? 1 yes, 2 no')
    }
    if (method === 'serverRequest/resolved' && params.requestId === dialog) {
      dialog = undefined
      write('the dialog is closed')
    }
    if (method === 'item/completed' && params.item.type === 'agentMessage') write(`* ${params.item.text}`)
    if (method === 'turn/completed') write('❯')
  })
  await request('initialize', {})
  if (resume) {
    await request('thread/resume', { threadId: resume })
    const { data } = await request('thread/turns/list', { threadId: resume, limit: 100 })
    for (const { items } of data.toReversed()) for (const { type, text } of items) if (type === 'agentMessage') write(`* ${text}`)
  } else thread = (await request('thread/start', {})).thread.id
  process.stdin.setRawMode(true)
  process.stdin.on('data', async keys => {
    const text = keys.toString()
    if (dialog !== undefined) return send({ id: dialog, result: { decision: text === '1' ? 'accept' : 'cancel' } })
    process.stdout.write(text)
    typed += text
    if (!typed.endsWith('\r')) return
    const line = typed.slice(0, -1)
    typed = ''
    if (line === '/quit') process.exit(0)
    if (line === '/crash') process.kill(process.pid, 'SIGKILL')
    if (line === '/new') {
      thread = (await request('thread/start', {})).thread.id
      return write('❯')
    }
    if (line.startsWith('/goto ')) {
      thread = line.slice('/goto '.length)
      await request('thread/resume', { threadId: thread })
      return write('went there')
    }
    void request('turn/start', { threadId: thread, clientUserMessageId: 'typed', input: [{ type: 'text', text: line }] })
  })
  process.stdout.write('\x1b[?2004h')
  write('❯')
}
