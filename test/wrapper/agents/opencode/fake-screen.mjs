// The screen of the fake opencode: lines of what is said, and a dialog that Enter says yes to.
export async function attach(args) {
  const [url] = args
  let session = args[args.indexOf('--session') + 1]
  const headers = {
    authorization: `Basic ${Buffer.from(`opencode:${process.env.OPENCODE_SERVER_PASSWORD}`).toString('base64')}`,
    'content-type': 'application/json'
  }
  const call = (method, path, body) => fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const write = line => process.stdout.write(`${line}\r\n`)
  const shown = new Set()
  const roles = new Map()
  let dialog
  let typed = ''

  const show = part => {
    if (part.type !== 'text' || part.text === '' || shown.has(part.id)) return
    shown.add(part.id)
    write(`${roles.get(part.messageID) === 'user' ? '>' : '<'} ${part.text}`)
  }
  const hear = ({ type, properties }) => {
    if (type === 'message.updated') roles.set(properties.info.id, properties.info.role)
    if (type === 'message.part.updated' && properties.part.sessionID === session) show(properties.part)
    if (type === 'permission.asked') {
      dialog = properties.id
      write(`? ${properties.patterns[0]}`)
    }
    if (type === 'permission.replied' && properties.requestID === dialog) {
      dialog = undefined
      write('! answered')
    }
  }
  const enter = async () => {
    const line = typed
    typed = ''
    if (dialog) return call('POST', `/permission/${dialog}/reply`, { reply: 'once' })
    if (line === '/exit') process.exit(0)
    if (line === '/new') {
      session = (await (await call('POST', '/session', {})).json()).id
      return write('a new one')
    }
    await call('POST', `/session/${session}/prompt_async`, { parts: [{ type: 'text', text: line }] })
  }

  process.stdin.setRawMode(true)
  process.stdin.on('data', keys => {
    for (const key of keys.toString()) {
      if (key === '\r') void enter()
      else typed += key
    }
  })
  const { body } = await fetch(`${url}/event`, { headers })
  for (const { info, parts } of await (await call('GET', `/session/${session}/message`)).json()) {
    roles.set(info.id, info.role)
    for (const part of parts) show(part)
  }
  write('\x1b[?2004hready')
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) hear(JSON.parse(line.slice(5)))
  }
}
