import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { cryptoReady, engine, formatBackupKey, readBackupKey } from '../../lib/crypto/index.ts'
import * as v from '../../lib/schema.ts'
import { type Phone, type PhoneSession, startPhone } from '../wrapper/kit/phone.ts'
import type { Stage } from './steps.ts'

type Teardown = Pick<Stage, 'teardown'>

/** What the page asks for: the name of a call, with what it needs. */
const asked = v.object({
  call: v.string(),
  server: v.string(),
  key: v.optional(v.string()),
  session: v.optional(v.string()),
  text: v.optional(v.string()),
  answer: v.optional(v.unknown()),
  picture: v.optional(v.string())
})
type Asked = v.InferOutput<typeof asked>

/**
 * A page with the routes, the words and the dialogs of Happy's app and nothing else of it, to try the walk on. Behind it works the client of
 * the tests. `spoilt` is a call that does nothing.
 */
export async function serveStandIn({ teardown }: Teardown, spoilt?: string): Promise<string> {
  const accounts = new Map<string, ReturnType<typeof openAccount>>()
  const answer = async (request: IncomingMessage) => {
    const asking = v.parse(asked, JSON.parse(await text(request)))
    if (asking.call === spoilt) return {}
    if (asking.call === 'create') return cryptoReady().then(() => ({ key: formatBackupKey(engine.randomBytes(32)) }))
    const key = asking.key ?? ''
    const account = accounts.get(key) ?? openAccount({ teardown }, asking.server, key)
    accounts.set(key, account)
    return (await account).answer(asking)
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.setHeader('content-type', 'text/html').end(page)
    answer(request).then(
      answered => response.end(JSON.stringify(answered)),
      error => response.writeHead(500).end(String(error))
    )
  })
  teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('A listening server has an address.')
  return `http://127.0.0.1:${address.port}`
}

async function openAccount(teardown: Teardown, server: string, key: string) {
  const read = readBackupKey(key)
  if (!read.ok) throw new Error('This is no key.')
  const phone = await startPhone(teardown, { url: server.replace(/\/$/, '') }, read.secret)
  const opened = new Map<string, Promise<PhoneSession>>()
  const sessionOf = async (id: string) => {
    const others = (await phone.sessions()).map(session => session.id).filter(other => other !== id)
    const session = opened.get(id) ?? phone.session(others)
    opened.set(id, session)
    return session
  }
  return { answer: (asking: Asked) => answerFor(phone, sessionOf, asking) }
}

async function answerFor(phone: Phone, sessionOf: (id: string) => Promise<PhoneSession>, asking: Asked): Promise<object> {
  const { call, text = '' } = asking
  if (call === 'link') return phone.pair(text).then(() => ({}))
  if (call === 'sessions') return { sessions: (await phone.sessions()).map(({ id }) => id) }
  if (call === 'machine') return { ...(await (await phone.machine()).metadata()) }
  if (call === 'spawn') {
    const machine = await phone.machine()
    const directory = (await machine.metadata())?.homeDir ?? ''
    const started = v.parse(v.object({ sessionId: v.string() }), await machine.call('spawn-happy-session', { directory, agent: 'claude' }))
    await (await sessionOf(started.sessionId)).say(text)
    return started
  }
  const session = await sessionOf(asking.session ?? '')
  switch (call) {
    case 'say':
      if (asking.picture) await session.attach('pear.png', Buffer.from(asking.picture, 'base64'), 'image/png')
      return { id: await session.say(text) }
    case 'answer': {
      const [id = ''] = Object.keys(session.state.requests ?? {})
      await session.call('permission', {
        id,
        approved: true,
        decision: 'approved',
        ...(asking.answer ? { updatedInput: asking.answer } : {})
      })
      return {}
    }
    case 'archive':
      await session.call('killSession', {})
      return {}
    default: {
      const texts = session.messages.flatMap(({ role, content }) => (role === 'user' && 'text' in content ? [content.text] : []))
      const said = session.events().flatMap(ev => (ev.t === 'text' ? [ev.text] : []))
      return { texts: [...texts, ...said], request: Object.values(session.state.requests ?? {})[0] }
    }
  }
}

const page = `<!doctype html><meta charset="utf-8"><body><script type="module">
const add = (name, text = '', more = {}) => document.body.appendChild(Object.assign(document.createElement(name), { textContent: text, ...more }))
const clear = () => document.body.replaceChildren()
const button = (text, onclick) => add('div', text, { onclick })
const ask = async (call, more = {}) => {
  const answer = await fetch('/', { method: 'POST', body: JSON.stringify({ call, server: localStorage.server ?? '', key: localStorage.accountKey, ...more }) })
  if (!answer.ok) throw new Error(call + ' was answered with ' + await answer.text())
  return answer.json()
}
const dialog = (...parts) => { const close = () => all.forEach(part => part.remove()); const all = parts.map(([text, act]) => button(text, () => { act?.(); if (act) close() })) }
const confirm = (text, yes) => dialog(['Are you sure?'], ['Cancel', () => {}], [text, yes])
const entering = (box, send) => { box.onkeydown = event => { if (event.key === 'Enter') { event.preventDefault(); send(box.value) } } }
const [, first = '', id = '', last = ''] = location.pathname.split('/')
const screens = {
  async server() {
    const box = add('input')
    button('Save', async () => {
      const said = await (await fetch(box.value, { headers: { accept: 'text/plain' } })).text()
      if (said.includes('Welcome to Happy Server!')) confirm('Continue', () => { localStorage.server = box.value })
    })
  },
  async ''() {
    if (!localStorage.accountKey) return button('Create account', async () => { const { key } = await ask('create'); if (!key) throw new Error('A key was not given'); localStorage.accountKey = key; clear(); screens['']() })
    const { sessions } = await ask('sessions')
    if (sessions.length > 0) return sessions.map(text => add('p', text))
    button('Enter URL manually', () => {
      add('p', 'Authenticate Terminal')
      const box = add('input')
      button('Cancel', () => {})
      button('Authenticate', () => ask('link', { text: box.value }))
    })
  },
  async settings() { add('p', 'Secret Key'); button('Tap to reveal', () => add('code', localStorage.accountKey)) },
  async terminal() { const key = location.hash.slice('#key='.length); button('Accept Connection', () => ask('link', { text: 'happy://terminal?' + key })) },
  async restore() { const box = add('input'); button('Restore Account', () => { localStorage.accountKey = box.value; location.href = '/' }) },
  async new() {
    add('p', (await ask('machine')).host)
    const box = add('textarea')
    entering(box, async text => { location.href = '/session/' + (await ask('spawn', { text })).sessionId })
  },
  async session() {
    if (last === 'info') return button('Archive Session', () => confirm('Archive Session', () => ask('archive', { session: id })))
    const list = add('div')
    const form = add('div')
    const box = add('textarea')
    let picture, shown = ''
    entering(box, text => { box.value = ''; ask('say', { session: id, text, picture }) })
    document.addEventListener('paste', event => {
      const file = event.clipboardData.files[0]
      const reader = new FileReader()
      reader.onload = () => { picture = reader.result.split(',')[1]; add('img', '', { src: URL.createObjectURL(file) }) }
      reader.readAsDataURL(file)
    })
    const draw = request => {
      const put = (text, onclick) => form.append(Object.assign(document.createElement('div'), { textContent: text, onclick }))
      const questions = request?.arguments?.questions
      form.replaceChildren()
      if (!request) return
      const answers = {}
      if (!questions) return put('Yes', () => ask('answer', { session: id }))
      for (const { question, options } of questions) {
        put(question)
        for (const { label } of options) put(label, () => { answers[question] = label })
      }
      put('Submit Answer', () => ask('answer', { session: id, answer: { answers } }))
    }
    for (;;) {
      const { texts = [], request } = await ask('look', { session: id }).catch(() => ({}))
      if (list.children.length !== texts.length) list.replaceChildren(...texts.map(textContent => Object.assign(document.createElement('p'), { textContent })))
      if (JSON.stringify(request) !== shown) { shown = JSON.stringify(request); draw(request) }
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}
await screens[first]()
</script>`
