#!/usr/bin/env node
// A Codex that has no model: its app server does what a message says, keeps its threads in CODEX_HOME, and speaks as
// version 0.169.0 was seen to speak. Its own screen is in fake-screen.mjs.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { drawScreen } from './fake-screen.mjs'
import { listen } from './web-socket.mjs'

const models = ['quick', 'careful'].map(model => ({
  model,
  displayName: model,
  description: model,
  supportedReasoningEfforts: ['low', 'high'].map(reasoningEffort => ({ reasoningEffort })),
  defaultReasoningEffort: 'low'
}))

const args = process.argv.slice(2)
const flagOf = flag => args[args.indexOf(flag) + 1]
if (args.includes('--version')) {
  console.log(`codex-cli ${process.env.FAKE_VERSION ?? '0.169.0'}`)
} else if (args[0] === 'app-server') {
  if (process.env.FAKE_REFUSES) {
    console.error('unknown option --listen')
    process.exit(2)
  }
  serve(flagOf('--listen').slice('unix://'.length))
} else {
  await drawScreen({ address: flagOf('--remote').slice('unix://'.length), resume: args[0] === 'resume' ? args[1] : undefined })
}

const rateLimits = (ofHours, ofWeek) => ({
  limitId: 'codex',
  limitName: null,
  primary: { usedPercent: ofHours, windowDurationMins: 300, resetsAt: 1_900_000_000 },
  secondary: { usedPercent: ofWeek, windowDurationMins: 10080, resetsAt: null },
  rateLimitReachedType: null
})

function serve(path) {
  const home = process.env.CODEX_HOME ?? join(process.env.HOME, '.codex')
  mkdirSync(home, { recursive: true })
  const connections = new Set()
  const threads = new Map()
  const waiting = new Map()
  let lastRequest = -1

  const fileOf = id => join(home, `${id}.json`)
  const tellAll = (method, params) => {
    for (const { send } of connections) send({ method, params })
  }
  const tell = (thread, method, params) => {
    for (const connection of connections)
      if (connection.follows.has(thread.id)) connection.send({ method, params: { threadId: thread.id, ...params } })
  }
  const keep = thread => {
    if (thread.turns.length === 0) return
    // One that is killed in it leaves the whole of before.
    writeFileSync(`${fileOf(thread.id)}.new`, JSON.stringify(thread.turns))
    renameSync(`${fileOf(thread.id)}.new`, fileOf(thread.id))
    writeRollout(home, thread)
  }
  const open = (id, { turns = [], cwd = process.cwd(), base } = {}) => {
    const thread = {
      id,
      turns,
      cwd,
      base,
      settings: { approvalPolicy: 'on-request', approvalsReviewer: 'user', sandboxPolicy: { type: 'workspaceWrite' } }
    }
    Object.assign(thread.settings, { model: 'careful', effort: null })
    threads.set(id, thread)
    return thread
  }
  const load = id => {
    if (threads.has(id)) return threads.get(id).turns.length > 0 ? threads.get(id) : undefined
    try {
      const turns = JSON.parse(readFileSync(fileOf(id), 'utf8'))
      for (const turn of turns) if (turn.status === 'inProgress') turn.status = 'interrupted'
      return open(id, { turns, ...beginningOf(home, id) })
    } catch {
      return undefined
    }
  }
  const shown = ({ id, settings }) => ({
    id,
    ephemeral: false,
    parentThreadId: null,
    name: null,
    model: settings.model,
    reasoningEffort: settings.effort
  })
  const opened = thread => ({
    thread: shown(thread),
    ...thread.settings,
    sandbox: thread.settings.sandboxPolicy,
    reasoningEffort: thread.settings.effort
  })

  /** To everybody who follows; resolves with the first answer. */
  const ask = (thread, method, params) => {
    const id = ++lastRequest
    return new Promise(resolve => {
      waiting.set(id, answer => {
        waiting.delete(id)
        tell(thread, 'serverRequest/resolved', { requestId: id })
        resolve(answer)
      })
      const request = { id, method, params: { threadId: thread.id, turnId: thread.turn.id, ...params } }
      thread.open.set(id, request)
      for (const connection of connections) if (connection.follows.has(thread.id)) connection.send(request)
    })
  }

  const runTurn = async (thread, input, clientId) => {
    const turn = { id: randomUUID(), status: 'inProgress', error: null, startedAt: Math.floor(Date.now() / 1000), items: [] }
    thread.turns.push(turn)
    thread.turn = turn
    thread.open = new Map()
    thread.underWay = new Map()
    thread.stop = new AbortController()
    tellAll('thread/status/changed', { threadId: thread.id, status: { type: 'active', activeFlags: [] } })
    tell(thread, 'turn/started', { turn: { ...turn, items: [] } })
    let next = { input, clientId }
    while (next) {
      thread.steered = undefined
      thread.cut = new AbortController()
      await perform(thread, next).catch(error => {
        if (error.name !== 'AbortError') throw error
      })
      next = thread.steered
    }
    for (const id of thread.open.keys()) waiting.get(id)?.(undefined)
    turn.status = thread.stop.signal.aborted ? 'interrupted' : 'completed'
    turn.completedAt = Math.floor(Date.now() / 1000)
    keep(thread)
    thread.turn = undefined
    tell(thread, 'turn/completed', { turn: { ...turn, items: [] } })
    tellAll('thread/status/changed', { threadId: thread.id, status: { type: 'idle' } })
  }

  const done = (thread, item) => {
    thread.turn?.items.push(item)
    thread.underWay.delete(item.id)
    keep(thread)
    tell(thread, 'item/completed', { turnId: thread.turn.id, item })
  }
  const started = (thread, item) => {
    thread.underWay.set(item.id, item)
    tell(thread, 'item/started', { turnId: thread.turn.id, item })
  }

  const say = async (thread, text, ms = 0) => {
    const item = { type: 'agentMessage', id: `msg_${randomUUID()}`, text: '' }
    started(thread, item)
    const words = text.match(/\S+\s*/g) ?? []
    const signal = AbortSignal.any([thread.cut.signal, thread.stop.signal])
    for (const delta of words) {
      tell(thread, 'item/agentMessage/delta', { turnId: thread.turn.id, itemId: item.id, delta })
      await wait(ms / words.length, undefined, { signal })
    }
    done(thread, { ...item, text })
  }

  const perform = async (thread, { input, clientId }) => {
    const text = input.map(part => part.text ?? '').join('')
    const message = { type: 'userMessage', id: randomUUID(), clientId, content: input }
    started(thread, message)
    done(thread, message)
    const [, word, rest] = /^(\w+) ?([\s\S]*)$/.exec(text) ?? []
    if (process.env.FAKE_LAG_MS) await wait(Number(process.env.FAKE_LAG_MS))
    switch (word) {
      case 'slow': {
        const [, ms, words] = /^(\d+) ([\s\S]*)$/.exec(rest)
        return say(thread, words, Number(ms))
      }
      case 'many': {
        const [, count, line = 'line'] = /^(\d+) ?([\s\S]+)?$/.exec(rest)
        for (let number = 1; number <= Number(count); number++) await say(thread, `${line} ${number}`, 20)
        return
      }
      case 'write': {
        const { path, content, end } = rest.startsWith('{')
          ? JSON.parse(rest)
          : { path: join(process.cwd(), rest), content: 'from the model\n', end: 'all done' }
        if (!(await change(thread, path, content))) return
        return say(thread, end)
      }
      case 'ask': {
        const answer = await ask(thread, 'item/tool/requestUserInput', {
          itemId: 'ask',
          isBlocking: true,
          questions: [
            { id: 'colour', header: 'Colour', question: 'Which colour?', isOther: false, options: [{ label: 'red' }, { label: 'blue' }] },
            { id: 'days', header: 'Days', question: 'How many days?', isOther: true, options: null }
          ]
        })
        if (thread.stop.signal.aborted) return
        const { colour, days } = answer.answers
        return say(thread, colour ? `a ${colour.answers[0]} gate in ${days.answers[0]} days` : 'as you like')
      }
      case 'open': {
        const { action } = (await ask(thread, 'mcpServer/elicitation/request', {
          serverName: 'gates',
          mode: 'url',
          message: 'Sign in',
          url: rest,
          elicitationId: 'e1'
        })) ?? { action: 'cancel' }
        return thread.stop.signal.aborted ? undefined : say(thread, `the page: ${action}`)
      }
      case 'refuse': {
        const [message, codexErrorInfo] = JSON.parse(rest)
        tell(thread, 'error', { turnId: thread.turn.id, willRetry: true, error: { message, codexErrorInfo, additionalDetails: null } })
        return say(thread, 'after all')
      }
      case 'limit':
        tellAll('account/rateLimits/updated', { rateLimits: { ...rateLimits(100, 7), rateLimitReachedType: 'rate_limit_reached' } })
        return say(thread, 'You have hit your limit.')
      case 'look':
        return say(thread, input.map(({ type, url }) => `${type} ${url?.slice(0, 22) ?? ''}`).join(', '))
      default:
        return say(thread, `you said: ${text}`)
    }
  }

  const change = async (thread, path, content) => {
    const before = read(path)
    const lines = (text, sign) =>
      text
        .replace(/\n$/, '')
        .split('\n')
        .map(line => `${sign}${line}\n`)
        .join('')
    const diff = before === undefined ? content : `@@ -1 +1 @@\n${lines(before, '-')}${lines(content, '+')}`
    const changes = [{ path, kind: before === undefined ? { type: 'add' } : { type: 'update', move_path: null }, diff }]
    const item = { type: 'fileChange', id: `call_${randomUUID()}`, changes, status: 'inProgress' }
    started(thread, item)
    if (thread.settings.approvalPolicy === 'untrusted' || thread.settings.sandboxPolicy.type === 'readOnly') {
      const answer = await ask(thread, 'item/fileChange/requestApproval', { itemId: item.id, reason: null, grantRoot: null })
      if (thread.stop.signal.aborted) return false
      if (answer.decision === 'cancel') {
        thread.stop.abort()
        return false
      }
      if (!answer.decision.startsWith('accept')) {
        done(thread, { ...item, status: 'declined' })
        // A model thinks about a no, and what its person says meanwhile belongs to this turn.
        await wait(2000, undefined, { signal: AbortSignal.any([thread.cut.signal, thread.stop.signal]) })
        return true
      }
    }
    writeFileSync(path, content)
    done(thread, { ...item, status: 'completed' })
    return true
  }

  const handle = (connection, method, params) => {
    const thread = params?.threadId === undefined ? undefined : threads.get(params.threadId)
    switch (method) {
      case 'initialize':
        return { userAgent: 'fake/0.169.0' }
      case 'account/rateLimits/read':
        return { rateLimits: rateLimits(42, 7), rateLimitsByLimitId: null }
      case 'model/list':
        return { data: models, nextCursor: null }
      case 'thread/start': {
        const begun = open(randomUUID())
        connection.follows.add(begun.id)
        tellAll('thread/started', { thread: shown(begun) })
        return opened(begun)
      }
      case 'thread/fork': {
        const source = load(params.threadId)
        const last = source.turns.findIndex(({ id }) => id === params.lastTurnId)
        if (params.lastTurnId && last < 0) throw new Error(`fork turn not found: ${params.lastTurnId}`)
        const turns = structuredClone(params.lastTurnId ? source.turns.slice(0, last + 1) : source.turns)
        const forked = open(randomUUID(), { turns, cwd: source.cwd, base: baseAt(source, turns.length) })
        keep(forked)
        tellAll('thread/started', { thread: shown(forked) })
        return opened(forked)
      }
      case 'thread/resume': {
        if (params.threadId === '') throw new Error('invalid session id: invalid length: expected length 32 for simple format, found 0')
        const loaded = load(params.threadId)
        if (!loaded || (process.env.FAKE_KEEPS_LATE && loaded.open?.size === 0))
          throw new Error(`no rollout found for thread id ${params.threadId}`)
        connection.follows.add(loaded.id)
        // Who comes late is asked what is open still.
        for (const [id, request] of loaded.open ?? []) if (waiting.has(id)) connection.send(request)
        const last = loaded.turns.at(-1)
        return {
          ...opened(loaded),
          // With what is under way, which no list of turns has.
          initialTurnsPage: params.initialTurnsPage && { data: [{ ...last, items: [...last.items, ...(loaded.underWay?.values() ?? [])] }] }
        }
      }
      case 'thread/read':
        return { thread: shown(thread ?? load(params.threadId)) }
      case 'thread/turns/list': {
        const turns = (thread ?? load(params.threadId)).turns.toReversed()
        const from = Number(params.cursor ?? 0)
        const more = from + params.limit < turns.length
        return { data: turns.slice(from, from + params.limit), nextCursor: more ? String(from + params.limit) : null }
      }
      case 'thread/settings/update': {
        const { threadId: _, ...changes } = params
        Object.assign(thread.settings, changes)
        tell(thread, 'thread/settings/updated', { threadSettings: thread.settings })
        return {}
      }
      case 'turn/start': {
        const [, how, why] = /^(reject|odd|die) ?(.*)$/.exec(params.input[0].text) ?? []
        if (how === 'reject') throw new Error(why)
        if (how === 'odd') return {}
        if (how === 'die') process.exit(Number(why))
        if (thread.turn) return handle(connection, 'turn/steer', { ...params, expectedTurnId: thread.turn.id })
        void runTurn(thread, params.input, params.clientUserMessageId)
        return { turn: { id: thread.turn.id, status: 'inProgress', items: [] } }
      }
      case 'turn/steer':
        if (thread?.turn?.id !== params.expectedTurnId) throw new Error('no active turn to steer')
        thread.steered = { input: params.input, clientId: params.clientUserMessageId }
        thread.cut.abort()
        return { turnId: thread.turn.id }
      case 'turn/interrupt':
        if (!thread?.turn) throw new Error('no active turn to interrupt')
        thread.stop.abort()
        for (const id of thread.open.keys()) waiting.get(id)?.(undefined)
        return {}
      default:
        throw new Error(`unknown method ${method}`)
    }
  }

  listen(path, socket => {
    const connection = { follows: new Set(), send: message => socket.send(JSON.stringify(message)) }
    connections.add(connection)
    socket.onClose = () => connections.delete(connection)
    socket.onMessage = text => {
      const { id, method, params, result } = JSON.parse(text)
      if (method === undefined) return waiting.get(id)?.(result)
      if (id === undefined) return
      try {
        connection.send({ id, result: handle(connection, method, params) })
      } catch (error) {
        connection.send({ id, error: { code: -32600, message: error.message } })
      }
    }
  })
}

/** What was said, where others look for it; a fork has only what was said since. */
function writeRollout(home, thread) {
  mkdirSync(dirname(rolloutOf(home, thread.id)), { recursive: true })
  writeFileSync(rolloutOf(home, thread.id), rolloutText(thread, thread.turns.length))
}

function rolloutText({ id, turns, cwd, base }, upTo) {
  const kinds = { userMessage: 'UserMessage', agentMessage: 'AgentMessage' }
  const rows = turns
    .slice(base?.turns ?? 0, upTo)
    .flatMap(({ items }) =>
      items.flatMap(({ type, text, content = [{ type: 'Text', text }], ...item }) =>
        kinds[type] ? { type: 'event_msg', payload: { type: 'item_completed', item: { ...item, type: kinds[type], content } } } : []
      )
    )
  const all = [{ type: 'session_meta', payload: { id, cwd, ...(base && { history_base: base }) } }, ...rows]
  return all.map(row => `${JSON.stringify(row)}\n`).join('')
}

function baseAt(source, turns) {
  return { thread_id: source.id, end_byte_offset: Buffer.byteLength(rolloutText(source, turns)), turns }
}

function beginningOf(home, id) {
  const { cwd, history_base: base } = JSON.parse(readFileSync(rolloutOf(home, id), 'utf8').split('\n')[0]).payload
  return { cwd, base }
}

function rolloutOf(home, id) {
  return join(home, 'sessions', '2026', '01', '02', `rollout-2026-01-02T03-04-05-${id}.jsonl`)
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
