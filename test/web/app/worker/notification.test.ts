import t from 'tap'
import type { NoticePreview } from '../../../../lib/protocol/sealed/preview.ts'
import { aboutOf, notificationOf, outcomeOf, type Ways } from '../../../../web/app/worker/notification.ts'
import { type Payload, readPayload } from '../../../../web/app/worker/payload.ts'
import { push as words } from '../../../../web/words/push.ts'

const pushed = {
  title: 'Your agent needs a decision',
  body: 'Open the app to decide.',
  navigate: 'https://home.example/s/s1',
  tag: 's1',
  lang: 'en',
  silent: false,
  data: { v: 1, what: 'show', notice: 'n1', kind: 'permission', session: 's1', receipt: 'r1', createdAt: 1, preview: 'sealed' }
}
const ways: Ways = { words, mayAllow: false, mayAnswer: true, maxActions: 3, takesText: false }

type Permission = Extract<NonNullable<NoticePreview['asks']>, { type: 'permission' }>

function permission(more: Partial<Permission> = {}): NoticePreview {
  const asks = { type: 'permission' as const, id: 'p1', kind: 'execute' as const, text: 'npm test', isWhole: true, risk: 'plain' as const }
  return { sealedFor: { type: 'preview', session: 's1', notice: 'n1' }, title: 'orchard-api', asks: { ...asks, mayAllow: true, ...more } }
}

function payload(more: object = {}): Payload {
  const read = readPayload({ data: { json: () => ({ web_push: 8030, notification: { ...pushed, ...more } }) } })
  if (!read) throw new Error('The payload was not read.')
  return read
}

function shown(preview?: NoticePreview, other: Partial<Ways> = {}) {
  const { title, options } = notificationOf(payload(), preview, { ...ways, ...other })
  return { title, body: options.body, actions: (options.actions ?? []).map(({ action }) => action), data: options.data }
}

t.test('an unreadable push still shows something that opens the app', async t => {
  const unread = [
    undefined,
    { json: () => 'words' },
    { json: () => ({ notification: { title: '' } }) },
    {
      json() {
        throw new SyntaxError('no JSON')
      }
    }
  ]
  for (const data of unread) {
    const read = readPayload({ data: data ?? null })
    t.equal(read, undefined)
    const { title, options } = notificationOf(read, undefined, ways)
    t.same([title, options.body, options.data], ['Afield', words.unreadable, { path: '/' }])
  }
})

t.test('a browser that parses the declaration itself passes on what it read', async t => {
  t.equal(readPayload({ data: null, notification: pushed })?.data.receipt, 'r1')
})

t.test("without a preview it shows the server's fixed text, and the account's devices can deny the request", async t => {
  t.same(shown(), {
    title: 'Your agent needs a decision',
    body: 'Open the app to decide.',
    actions: ['open', 'deny', 'snooze'],
    data: { path: '/s/s1', notice: 'n1', kind: 'permission', session: 's1' }
  })
  t.same(shown(undefined, { mayAnswer: false }).actions, ['open', 'snooze'])
  const { options } = notificationOf(payload({ data: { ...pushed.data, kind: 'question' } }), undefined, ways)
  t.same(
    options.actions?.map(({ action }) => action),
    ['open', 'snooze'],
    'a question is not denied unread'
  )
})

t.test('a preview shows the request and where it is from, and a risky one cannot be decided there', async t => {
  const plain = shown(permission())
  t.same([plain.title, plain.body, plain.data.preview], ['Run a command? orchard-api', 'npm test', 'sealed'])
  const risky = shown(permission({ risk: 'risky', mayAllow: false, text: 'git push --force' }))
  t.same([risky.body, risky.actions], ['git push --force\nRisky, open to decide', ['open', 'deny', 'snooze']])
})

t.test('allowing needs a request that may be allowed there, and a person who turned that on', async t => {
  t.same(shown(permission()).actions, ['open', 'deny', 'snooze'])
  t.same(shown(permission(), { mayAllow: true }).actions, ['allow', 'deny', 'snooze'])
  t.same(shown(permission({ mayAllow: false }), { mayAllow: true }).actions, ['open', 'deny', 'snooze'])
  t.same(shown(permission(), { mayAllow: true, maxActions: 2 }).actions, ['allow', 'deny'])
  t.same(shown(permission(), { maxActions: 0 }).actions, [])
})

t.test('a question can be answered in words where the browser has a button for that', async t => {
  const sealedFor = { type: 'preview' as const, session: 's1', notice: 'n1' }
  const question: NoticePreview = {
    sealedFor,
    title: 'orchard-api',
    asks: { type: 'question', id: 'q1', text: 'Which port?', reply: 'port' }
  }
  t.same([shown(question).title, shown(question).body], ['orchard-api', 'Which port?'])
  t.same(shown(question).actions, ['open', 'snooze'])
  t.same(shown(question, { takesText: true }).actions, ['reply', 'open', 'snooze'])
})

t.test('the newest notification of a session replaces the previous one', async t => {
  const { options } = notificationOf(payload({ silent: true }), undefined, ways)
  t.same([options.tag, options.silent, options.renotify], ['s1', true, false])
  const about = { notice: 'n2', kind: 'device', receipt: 'r2' }
  t.equal(notificationOf(payload({ tag: 'n2', data: about }), undefined, ways).options.tag, 'n2')
})

t.test('a test opens the page it was sent from', async t => {
  const { options } = notificationOf(payload({ data: { ...pushed.data, kind: 'test', session: undefined } }), undefined, ways)
  t.equal(options.data.path, '/settings/notifications')
})

t.test('every button says what it does', async t => {
  const { words } = ways
  const sealedFor = { type: 'preview' as const, session: 's1', notice: 'n1' }
  const question: NoticePreview = { sealedFor, title: '', asks: { type: 'question', id: 'q1', text: '', reply: 'port' } }
  const buttons = (preview: NoticePreview) =>
    notificationOf(payload(), preview, { ...ways, mayAllow: true, takesText: true }).options.actions
  t.same(buttons(permission()), [
    { action: 'allow', title: words.allow },
    { action: 'deny', title: words.deny },
    { action: 'snooze', title: words.snooze }
  ])
  t.same(buttons(question), [
    { action: 'reply', title: words.reply, type: 'text', placeholder: words.replyHint },
    { action: 'open', title: words.open },
    { action: 'snooze', title: words.snooze }
  ])
  t.match(
    notificationOf(payload(), question, ways),
    { title: pushed.title, options: { body: pushed.body } },
    'empty texts are those of the server'
  )
})

t.test('a notification has its language, its pictures and a tag, also without a session', async t => {
  const bare = { notice: 'n2', kind: 'device', receipt: 'r2' }
  const of = (more: object) => notificationOf(payload(more), undefined, ways).options
  t.match(of({}), { lang: 'en', icon: '/icon-192.png', badge: '/badge-96.png', tag: 's1', silent: false, renotify: true })
  t.notOk('lang' in of({ lang: undefined }))
  t.match(of({ data: bare, tag: undefined }), { tag: 'n2', data: { path: '/', notice: 'n2', kind: 'device' } })
  t.notOk('preview' in of({}).data, 'a preview that could not be read is not kept')
  t.match(notificationOf(undefined, undefined, ways).options, { tag: 'afield', icon: '/icon-192.png', badge: '/badge-96.png' })
})

t.test('an outcome takes the place of its notification without a sound, and remembers what was answered', async t => {
  const shown = outcomeOf('Denied', 's1', { path: '/s/s1', session: 's1', notice: 'n1', kind: 'permission', preview: 'sealed' }, 'npm test')
  t.same(shown, {
    title: 'Denied',
    options: {
      ...{ body: 'npm test', tag: 's1', silent: true, icon: '/icon-192.png', badge: '/badge-96.png' },
      data: { path: '/s/s1', session: 's1', answered: 'n1' }
    }
  })
  t.equal(outcomeOf('Denied', 's1', { path: '/', answered: 'n0' }, '').options.data.answered, 'n0', 'also when it is followed by another')
})

t.test('only notifications of this app are known by their data', async t => {
  for (const data of [undefined, null, 'words', {}, { notice: 'n1' }]) t.equal(aboutOf({ data }), undefined)
  t.equal(aboutOf(undefined), undefined)
  t.same(aboutOf({ data: { path: '/s/s1' } }), { path: '/s/s1' })
})
