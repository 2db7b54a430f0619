#!/usr/bin/env node
// An opencode as far as the wrapper sees it: a server with a scripted model, and a screen that is a client of it. What is said
// is kept in $HOME, at the moments at which the real one keeps it.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { attach } from './fake-screen.mjs'

const [command, ...args] = process.argv.slice(2)
const kept = join(process.env.HOME ?? '.', 'opencode.kept.json')

if (command === 'debug') process.stdout.write(process.env.FAKE_CONFIG ?? '{}')
else if (command === 'attach') attach(args)
else if (command === 'db') process.stdout.write(JSON.stringify(rowsFor(args.at(-1))))
else if (command === 'serve' && process.env.FAKE_OPENCODE !== 'old') serve()
else {
  process.stderr.write(`unknown command: ${command}\n`)
  process.exit(1)
}

/** Of the two questions that are asked of its database. */
function rowsFor(query) {
  const conversations = Object.values(JSON.parse(readFileSync(kept, 'utf8')))
  if (query.includes(' from session')) return conversations.map(({ id, title, directory, at }) => ({ id, title, folder: directory, at }))
  return conversations.flatMap(({ id, messages }) =>
    messages.flatMap(({ info, parts }) => parts.map(({ text }) => ({ id, role: info.role, text })))
  )
}

const aborted = { name: 'MessageAbortedError', data: { message: 'Aborted' } }
const refusal = 'The user rejected permission to use this specific tool call'

function serve() {
  if (process.env.FAKE_STAYS) process.on('SIGTERM', () => {})
  const sessions = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {}
  const listeners = new Set()
  const running = new Map()
  const asked = new Map()
  let names = 0
  const newId = kind =>
    `${kind}_${BigInt.asUintN(48, BigInt(Date.now()) * 4096n + BigInt(++names))
      .toString(16)
      .padStart(12, '0')}fake`
  const emit = (type, properties) => {
    for (const response of listeners) response.write(`data: ${JSON.stringify({ id: newId('evt'), type, properties })}\n\n`)
  }
  const keep = () => {
    writeFileSync(`${kept}.new`, JSON.stringify(sessions))
    renameSync(`${kept}.new`, kept)
  }
  const tellMessage = info => {
    keep()
    emit('message.updated', { sessionID: info.sessionID, info })
  }
  const tellPart = (part, isKept = true) => {
    if (isKept) keep()
    emit('message.part.updated', { sessionID: part.sessionID, part, time: Date.now() })
  }
  const isGone = turn => turn.isAborted
  const wait = ms => new Promise(resolve => setTimeout(resolve, ms))

  const addMessage = (sessionID, about) => {
    const last = sessions[sessionID].messages.at(-1)?.info.time.created ?? 0
    const message = { info: { id: newId('msg'), sessionID, ...about, time: { created: Math.max(Date.now(), last + 1) } }, parts: [] }
    sessions[sessionID].messages.push(message)
    tellMessage(message.info)
    return message
  }
  const addPart = (message, about, isKept) => {
    const part = { id: newId('prt'), sessionID: message.info.sessionID, messageID: message.info.id, ...about }
    message.parts.push(part)
    tellPart(part, isKept)
    return part
  }

  const sayText = async (message, text, turn, everyMs = 0, type = 'text') => {
    const part = addPart(message, { type, text: '', time: { start: Date.now() } })
    let said = ''
    for (const word of text.match(/\S+\s*/g) ?? []) {
      if (isGone(turn)) break
      said += word
      emit('message.part.delta', { sessionID: part.sessionID, messageID: part.messageID, partID: part.id, field: 'text', delta: word })
      if (everyMs > 0 && !turn.isHurried) await wait(everyMs)
    }
    return () => {
      // The real one puts down the last of a turn that was cut off after that is told.
      if (turn.isAborted) emit('session.error', { sessionID: part.sessionID, error: aborted })
      part.text = said
      part.time.end = Date.now()
      tellPart(part)
    }
  }

  const ask = (kind, sessionID, about, turn) => {
    const id = newId(kind === 'permission' ? 'per' : 'que')
    const request = { id, sessionID, ...about }
    return new Promise(resolve => {
      asked.set(id, { kind, request, settle: resolve })
      turn.stopAsking = () => asked.delete(id) && resolve(undefined)
      if (turn.isCut) cutLines()
      emit(`${kind}.asked`, request)
      if (turn.isAnsweredAway) void answerAway(id, kind === 'question' ? [['red'], []] : 'once')
    })
  }
  const cutLines = () => {
    for (const listener of listeners) listener.destroy()
    listeners.clear()
  }
  /** Somebody else answers while nobody listens. */
  const answerAway = async (id, answer) => {
    await wait(50)
    cutLines()
    asked.get(id)?.settle(answer)
    asked.delete(id)
  }

  const use = async (message, tool, input, turn, work) => {
    const part = addPart(message, { type: 'tool', callID: newId('call'), tool, state: { status: 'pending', input: {} } })
    part.state = { status: 'running', input, time: { start: Date.now() } }
    tellPart(part)
    part.state = { ...part.state, ...(await work(part)) }
    if (isGone(turn)) part.state = { status: 'error', input, error: 'Tool execution aborted', metadata: { interrupted: true } }
    tellPart(part)
    return part.state
  }

  const write = async (message, { path, content }, turn) =>
    use(message, 'write', { filePath: path, content }, turn, async part => {
      turn.flush()
      const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
      const lines = (text, sign) =>
        text
          .split(/(?<=\n)/)
          .map(line => `${sign}${line.replace(/\n$/, '')}\n${line.endsWith('\n') || line === '' ? '' : '\\ No newline at end of file\n'}`)
          .filter(line => line !== `${sign}\n` || text !== '')
          .join('')
      const count = text => (text === '' ? 0 : text.split(/(?<=\n)/).length)
      const diff = `Index: ${path}\n===\n--- ${path}\n+++ ${path}\n@@ -${before === '' ? 0 : 1},${count(before)} +1,${count(content)} @@\n${before === '' ? '' : lines(before, '-')}${lines(content, '+')}`
      const about = {
        permission: 'edit',
        patterns: [path],
        metadata: { filepath: path, diff },
        always: ['*'],
        tool: { messageID: part.messageID, callID: part.callID }
      }
      const reply = await ask('permission', part.sessionID, about, turn)
      if (reply?.message)
        return { status: 'error', error: `${refusal} with the following feedback: ${reply.message}`, heard: reply.message }
      if (reply === 'reject') return { status: 'error', error: `${refusal}.` }
      if (reply === undefined) return {}
      writeFileSync(path, content)
      return { status: 'completed', output: 'Wrote file successfully.', title: path, metadata: { filepath: path, exists: before !== '' } }
    })

  const answerTo = async (words, files, message, turn) => {
    const [, how, asking] = /^(cut|away): (.*)$/s.exec(words) ?? []
    turn.isCut = how === 'cut'
    turn.isAnsweredAway = how === 'away'
    const prompt = asking ?? words
    return answerPrompt(prompt, files, message, turn)
  }
  const answerPrompt = async (prompt, files, message, turn) => {
    const [, path, content, end] = /^write (\S+) (.*) end (.*)$/s.exec(prompt) ?? []
    const [, ms, words] = /^slow (\d+) (.*)$/s.exec(prompt) ?? []
    const [, lines, word] = /^(?:cut )?many (\d+) (.*)$/s.exec(prompt) ?? []
    const finish = finish => Object.assign(message.info, { finish })
    if (path !== undefined) {
      ;(await sayText(message, 'a file then', turn, 0, 'reasoning'))()
      const flush = await sayText(message, 'I will write it.', turn)
      turn.flush = flush
      const state = await write(message, { path, content: JSON.parse(content) }, turn)
      finish('tool-calls')
      const heard = state.heard && `so not: ${state.heard}`
      if (state.status === 'completed' || heard) return async next => (await sayText(next, heard || end, turn))()
    } else if (words !== undefined) {
      ;(await sayText(message, words, turn, Number(ms) / words.split(' ').length))()
    } else if (lines !== undefined) {
      // Once what it was asked is told: that it works is known on the other side.
      if (prompt.startsWith('cut')) await wait(50)
      if (prompt.startsWith('cut')) cutLines()
      for (let line = 1; line <= Number(lines) && !isGone(turn); line++) (await sayText(message, `${word} ${line}`, turn, 5))()
    } else if (prompt === 'refuse') {
      const status = { type: 'retry', attempt: 2, message: 'Overloaded', next: Date.now() + 4000 }
      emit('session.status', { sessionID: message.info.sessionID, status })
      emit('session.status', { sessionID: message.info.sessionID, status: { type: 'busy' } })
      ;(await sayText(message, 'after all', turn))()
    } else if (prompt === 'break off') {
      ;(await sayText(message, 'whole', turn))()
      const flush = await sayText(message, 'this is half a', turn)
      message.info.error = { name: 'APIError', data: { message: 'the model is overloaded' } }
      emit('session.error', { sessionID: message.info.sessionID, error: message.info.error })
      flush()
    } else if (prompt === 'fail') {
      message.info.error = { name: 'APIError', data: { message: 'the model is overloaded' } }
    } else if (prompt === 'todo') {
      const todos = [
        { content: 'first', status: 'in_progress', priority: 'high' },
        { content: 'second', status: 'cancelled', priority: 'low' }
      ]
      await use(message, 'todowrite', { todos }, turn, async () => ({ status: 'completed', output: '[]', title: '2 todos' }))
    } else if (prompt === 'ask') {
      const questions = [
        {
          question: 'Which colour?',
          header: 'Colour',
          options: [
            { label: 'red', description: 'it is red' },
            { label: 'blue', description: 'it is blue' }
          ]
        },
        { question: 'How many days?', header: 'Days', options: [] }
      ]
      const state = await use(message, 'question', { questions }, turn, async part => {
        const answers = await ask('question', part.sessionID, { questions, tool: { messageID: part.messageID, callID: part.callID } }, turn)
        return answers ? { status: 'completed', output: answers.map(said => said.join(', ') || 'Unanswered').join('; ') } : {}
      })
      finish('tool-calls')
      if (state.status === 'completed') return async next => (await sayText(next, state.output, turn))()
    } else if (prompt === 'help') {
      const child = newId('ses')
      sessions[child] = { id: child, parentID: message.info.sessionID, title: 'Look around', messages: [] }
      emit('session.created', { sessionID: child, info: sessions[child] })
      const own = addMessage(child, { role: 'assistant' })
      ;(await sayText(own, 'looked around', turn))()
      own.info.time.completed = Date.now()
      tellMessage(own.info)
      emit('session.idle', { sessionID: child })
      ;(await sayText(message, 'helped', turn))()
    } else {
      ;(
        await sayText(
          message,
          files.length > 0 ? files.map(({ mime, url }) => `${mime} of ${url.length}`).join() : `you said: ${prompt}`,
          turn
        )
      )()
    }
    return undefined
  }

  const run = async sessionID => {
    const session = sessions[sessionID]
    const turn = { isAborted: false, isHurried: false, flush: () => {}, stopAsking: () => {} }
    running.set(sessionID, turn)
    emit('session.status', { sessionID, status: { type: 'busy' } })
    const answered = new Set(session.messages.flatMap(({ info }) => (info.role === 'assistant' ? info.parentID : [])))
    const open = () =>
      session.messages.find(({ info }) => info.role === 'user' && info.time.created >= turn.since && !answered.has(info.id))
    turn.since = session.messages.findLast(({ info }) => info.role === 'user')?.info.time.created ?? 0
    for (let user = open(); user && !turn.isAborted; user = open()) {
      answered.add(user.info.id)
      const prompt = user.parts.find(({ type }) => type === 'text')?.text ?? ''
      const files = user.parts.filter(({ type }) => type === 'file')
      let then = message => answerTo(prompt, files, message, turn)
      while (then && !turn.isAborted) {
        const message = addMessage(sessionID, {
          role: 'assistant',
          parentID: user.info.id,
          agent: user.info.agent,
          modelID: 'm',
          providerID: 'fake',
          cost: 0
        })
        message.info.finish = 'stop'
        then = await then(message)
        if (turn.isAborted) {
          message.info.error = aborted
          // The real one is idle before it has put down the last of a turn that was cut off.
          emit('session.error', { sessionID, error: message.info.error })
          emit('session.idle', { sessionID })
        }
        turn.flush = () => {}
        message.info.tokens = { input: 100, output: 20, reasoning: 0, cache: { read: 0, write: 0 } }
        message.info.time.completed = Date.now()
        tellMessage(message.info)
      }
    }
    running.delete(sessionID)
    if (!session.title) {
      session.title = 'A title'
      emit('session.updated', { sessionID, info: { id: sessionID, title: session.title, cost: 0.25 } })
    }
    emit('session.status', { sessionID, status: { type: 'idle' } })
    emit('session.idle', { sessionID })
  }

  const prompt = (sessionID, { messageID, agent = 'build', model = { providerID: 'fake', modelID: 'm' }, parts }) => {
    const message = addMessage(sessionID, { ...(messageID && { id: messageID }), role: 'user', agent, model })
    for (const part of parts) addPart(message, part)
    const turn = running.get(sessionID)
    if (turn) turn.isHurried = true
    else void run(sessionID)
    return null
  }

  const info = session => ({ ...session, messages: undefined })
  const variants = { m: { low: {}, high: {} }, m2: {} }
  const models = Object.fromEntries(
    Object.entries(variants).map(([id, variants]) => [id, { id, name: `Fake ${id}`, limit: { context: 1000 }, variants }])
  )
  const routes = [
    ['GET', /^\/global\/health$/, () => ({ healthy: true, version: process.env.FAKE_VERSION ?? '1.18.33' })],
    [
      'GET',
      /^\/agent$/,
      () => [
        { name: 'build', mode: 'primary' },
        { name: 'plan', mode: 'primary' },
        { name: 'general', mode: 'subagent' },
        { name: 'title', mode: 'primary', hidden: true }
      ]
    ],
    [
      'GET',
      /^\/config\/providers$/,
      () => (process.env.FAKE_OPENCODE === 'odd' ? {} : { providers: [{ id: 'fake', name: 'Fake', models }], default: { fake: 'm' } })
    ],
    ['GET', /^\/config$/, () => ({})],
    ['GET', /^\/command$/, () => [{ name: 'init', template: '' }]],
    [
      'POST',
      /^\/session$/,
      () => {
        const id = newId('ses')
        sessions[id] = { id, title: '', messages: [] }
        keep()
        emit('session.created', { sessionID: id, info: sessions[id] })
        return info(sessions[id])
      }
    ],
    ['GET', /^\/session\/status$/, () => Object.fromEntries([...running.keys()].map(id => [id, { type: 'busy' }]))],
    ['GET', /^\/session\/([^/]+)\/message$/, id => sessions[id]?.messages],
    [
      'DELETE',
      /^\/session\/([^/]+)$/,
      id => {
        delete sessions[id]
        keep()
        return true
      }
    ],
    [
      'POST',
      /^\/session\/([^/]+)\/fork$/,
      id => {
        const forked = newId('ses')
        sessions[forked] = { ...sessions[id], id: forked }
        keep()
        return info(sessions[forked])
      }
    ],
    ['POST', /^\/session\/([^/]+)\/prompt_async$/, (id, body) => (sessions[id] ? prompt(id, body) : undefined)],
    [
      'POST',
      /^\/session\/([^/]+)\/abort$/,
      id => {
        const turn = running.get(id)
        if (!turn) return false
        turn.isAborted = true
        turn.stopAsking()
        return true
      }
    ],
    ['GET', /^\/(permission|question)$/, kind => [...asked.values()].flatMap(each => (each.kind === kind ? [each.request] : []))],
    [
      'POST',
      /^\/(permission|question)\/([^/]+)\/reply$/,
      (kind, body, id) => {
        const { settle } = asked.get(id) ?? {}
        if (!settle) return undefined
        asked.delete(id)
        emit(`${kind}.replied`, { sessionID: '', requestID: id, ...body })
        settle(kind === 'question' ? body.answers : body.message ? body : body.reply)
        return true
      }
    ]
  ]

  const secret = `Basic ${Buffer.from(`opencode:${process.env.OPENCODE_SERVER_PASSWORD}`).toString('base64')}`
  const server = createServer(async (request, response) => {
    if (process.env.FAKE_OPENCODE !== 'open' && request.headers.authorization !== secret) return response.writeHead(401).end()
    if (request.url === '/event') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ id: newId('evt'), type: 'server.connected', properties: {} })}\n\n`)
      listeners.add(response)
      return response.on('close', () => listeners.delete(response))
    }
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    for (const [method, pattern, answer] of routes) {
      const found = pattern.exec(request.url)
      if (method !== request.method || !found) continue
      const value = answer(found[1], text === '' ? {} : JSON.parse(text), found[2])
      if (value === undefined) break
      return response
        .writeHead(value === null ? 204 : 200, { 'content-type': 'application/json' })
        .end(value === null ? undefined : JSON.stringify(value))
    }
    response.writeHead(404).end(JSON.stringify({ name: 'NotFoundError', data: { message: 'There is no such thing.' } }))
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`opencode server listening on http://127.0.0.1:${server.address().port}\n`))
}
