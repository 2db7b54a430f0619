import type { Page } from 'playwright-core'
import t from 'tap'
import { openChromium } from '../kit/chromium.ts'
import { openStory } from './kit/open-story.ts'
import { serveStories } from './stories/serve.ts'

interface Refusal {
  /** `app=…` or `story=…`. */
  readonly at: string
  /** From now on the server or the machine answers so. */
  readonly server?: Record<string, unknown>
  readonly machine?: Record<string, unknown>
  /** What else fails, as a script. */
  readonly fails?: string
  /** Buttons and the like, by the beginning of their names; `Field = text` fills a field. */
  readonly press: readonly string[]
  readonly says: string
}

const away = 'app=session-limit'
const notDone = 'That did not work. Nothing was changed.'
const spawns = { 'spawn-happy-session': 'away' }
const unwritten = { 'update-metadata': 'gone' }
const rejects = "() => Promise.reject(new Error('gone'))"
const unreadable = 'This app cannot read the response from studio-mini.'

const refusals: Record<string, Refusal> = {
  'renaming a session': { at: away, machine: unwritten, press: ['Session menu', 'Rename', 'Save'], says: notDone },
  'exporting a session': {
    at: away,
    server: { readMessages: 400 },
    press: ['Session menu', 'Export', 'To read'],
    says: notDone
  },
  'forking a session': {
    at: away,
    machine: { 'fork-session': 'away' },
    press: ['Session menu', 'Fork from here', 'Fork from here'],
    says: 'It could not be forked'
  },
  'ending an agent': {
    at: away,
    machine: { killSession: 'away', 'stop-session': 'away' },
    press: ['Session menu', 'End agent', 'End agent'],
    says: 'studio-mini could not end it.'
  },
  'archiving a session': { at: away, machine: unwritten, press: ['Session menu', 'Archive'], says: notDone },
  'archiving several': {
    at: 'app=home-plain',
    machine: unwritten,
    press: ['More for Flaky upload test', 'Select', 'Select all', 'Archive'],
    says: ' sessions could not be changed.'
  },
  'deleting sessions': {
    at: 'app=archive',
    server: { removeSession: 400 },
    press: ['Select', 'Select all', 'Delete', 'Delete'],
    says: ' sessions could not be changed.'
  },
  'withdrawing a queued message': {
    at: 'story=deciding-queue',
    fails: `story.texts.withdraw = ${rejects}`,
    press: ['Withdraw'],
    says: 'This device could not store your message.'
  },
  'asking again after a session was resumed': {
    at: 'story=not-applied',
    fails: `story.texts.send = ${rejects}`,
    press: ['Resume and'],
    says: 'This device could not store your message.'
  },
  'exporting everything': { at: 'app=storage-not-exported', press: [], says: 'The export stopped' },
  'changing an unsent message': { at: 'app=leaving', press: ['Edit : Also keep', 'Save'], says: notDone },
  'continuing a conversation of a machine': {
    at: 'app=home-no-session',
    machine: spawns,
    press: ['Find out why the upload test is flaky'],
    says: 'It could not be continued'
  },
  'searching a machine': {
    at: 'app=search',
    machine: { 'search-histories': 'away' },
    press: ['Also search'],
    says: 'studio-mini did not respond.'
  },
  'continuing a conversation that was found': {
    at: 'app=search',
    machine: spawns,
    press: ['Also search', 'Sign-in with SSO'],
    says: 'It could not be continued'
  },
  'starting a session': { at: 'app=new', machine: spawns, press: ['Start on'], says: 'Claude Code did not start' },
  'continuing a conversation from New': {
    at: 'app=new-histories',
    machine: spawns,
    press: ['Find out why the upload test is flaky'],
    says: 'It could not be continued'
  },
  'searching conversations from New': {
    at: 'app=new-histories',
    machine: { 'search-histories': 'away' },
    press: ['Search conversations = flaky', 'Search'],
    says: 'No connection. Nothing was sent.'
  },
  'ending a process': { at: 'app=machine-end', machine: { 'end-process': 'gone' }, press: ['End'], says: 'It did not end' },
  'removing a worktree': {
    at: 'app=machine',
    machine: { 'remove-worktree': 'away' },
    press: ['Remove afield/changelog', 'Remove'],
    says: 'It could not be removed'
  },
  'restarting a daemon': { at: 'app=machine', machine: { restart: 'away' }, press: ['Restart'], says: 'studio-mini did not respond' },
  'stopping a daemon': {
    at: 'app=machine-stop',
    machine: { 'stop-daemon': 'away' },
    press: ['Stop daemon'],
    says: 'studio-mini could not stop it'
  },
  "reading a daemon's log": { at: 'app=machine', machine: { log: 'away' }, press: ['Log'], says: 'studio-mini did not respond' },
  'asking how to update': { at: 'app=machine', machine: { update: 'away' }, press: ['Update'], says: 'studio-mini did not respond' },
  'keeping a computer awake': {
    at: 'app=machine',
    machine: { 'keep-awake': 'away' },
    press: ['Keep awake'],
    says: 'studio-mini did not respond'
  },
  'unlinking a computer': {
    at: 'app=machine-unlink',
    server: { removeDevice: 400 },
    press: ['Unlink this computer'],
    says: 'It could not be unlinked'
  },
  'reading the sign-ins of a computer to unlink': {
    at: 'app=machine',
    server: { listDevices: 400 },
    press: ['Unlink this computer'],
    says: 'It could not be unlinked'
  },
  'renaming a device': { at: 'app=devices', server: { renameDevice: 400 }, press: ['Rename Tablet', 'Save'], says: 'That did not work' },
  'unlinking a device': {
    at: 'app=devices',
    server: { removeDevice: 400 },
    press: ['Unlink Tablet', 'Unlink'],
    says: 'It could not be unlinked'
  },
  'creating an access key': {
    at: 'app=access',
    server: { createToken: 400 },
    press: ['Create access key', 'Name of the program = Report', 'Create access key'],
    says: 'That did not work'
  },
  'revoking an access key': {
    at: 'app=access',
    server: { revokeToken: 400 },
    press: ['Revoke Nightly report', 'Revoke'],
    says: 'That did not work'
  },
  'saving a rule': { at: 'app=rules', machine: { 'rules-set': 'away' }, press: ['npm test *', 'Save'], says: 'could not save the rule' },
  'removing a rule': {
    at: 'app=rules',
    machine: { 'rules-remove': 'away' },
    press: ['npm test *', 'Remove'],
    says: 'could not save the rule'
  },
  'pausing all rules': {
    at: 'app=rules',
    machine: { 'rules-pause': 'away' },
    press: ['Pause all rules'],
    says: 'A computer did not respond. Its rules are as before.'
  },
  'removing a channel': { at: 'app=notifications-remove', server: { listPushTokens: 400 }, press: ['Remove'], says: 'That did not work' },
  'adding a webhook': {
    at: 'app=webhook',
    server: { addPushToken: 503 },
    press: ['Address = https://home.example/api/webhook/a-name-that-nobody-guesses', 'Add and'],
    says: 'That did not work'
  },
  committing: { at: 'story=work-changes', fails: `folder.calls.commit = ${rejects}`, press: ['Commit…', 'Commit'], says: unreadable },
  'saving a file': {
    at: 'story=work-open',
    fails: `folder.calls.write = ${rejects}`,
    press: ['Edit', 'Edit callback.ts = let a', 'Save'],
    says: unreadable
  },
  'sending comments': {
    at: 'story=work-commented',
    fails: `folder.comments.send = ${rejects}`,
    press: ['Send 2 comments'],
    says: 'This device could not store your comments'
  },
  'reading older commits': { at: 'story=work-log', fails: `folder.calls.log = ${rejects}`, press: ['Older commits'], says: unreadable }
}

// These sheets were opened before the link was gone, or while it opens.
const withoutLink: Record<string, Refusal> = {
  'renaming a session': { at: 'story=read&framed', press: ['Session menu', 'Rename', 'Save'], says: notDone },
  'exporting a session': { at: 'story=read&framed', fails: 'knowSession()', press: ['Session menu', 'Export', 'To read'], says: notDone },
  'forking a session': {
    at: 'story=read&framed',
    fails: 'knowSession()',
    press: ['Session menu', 'Fork from here', 'Fork from here'],
    says: 'No connection. Nothing was sent.'
  },
  'archiving a session': { at: 'story=read&framed', press: ['Session menu', 'Archive'], says: notDone },
  'marking a key as compromised': { at: 'story=info&framed', press: ['Mark as compromised'], says: notDone }
}

t.test('what was refused says so where it was requested', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage({ viewport: { width: 390, height: 844 } })
  page.setDefaultTimeout(10_000)
  page.on('pageerror', error => t.fail(`an error: ${error.message}`))
  for (const [title, table] of [
    ['refused', refusals],
    ['without a link', withoutLink]
  ] as const) {
    for (const [what, { at, server = {}, machine = {}, fails, press, says }] of Object.entries(table)) {
      await t.test(`${title}: ${what}`, async t => {
        await openStory(page, origin, `/?${at}`, 'light')
        if (fails !== undefined) await page.evaluate(fails)
        if (at.startsWith('app='))
          await page.evaluate(([server, machine]) => Reflect.get(globalThis, 'respond')(server, machine), [server, machine])
        for (const step of press) await act(page, step)
        await page.getByText(says).first().waitFor()
        t.pass()
      })
    }
  }
})

async function act(page: Page, step: string): Promise<void> {
  // Looked for again with each try: a sheet may open a moment after the press that asks for it.
  const place = page.locator('dialog[open], body:not(:has(dialog[open])) main').last()
  const [name = '', text] = step.split(' = ')
  if (text !== undefined) return place.getByLabel(name, { exact: true }).fill(text)
  const begins = new RegExp(`^${name.replaceAll('*', '\\*')}`)
  const [first, ...others] = (['button', 'menuitem', 'link', 'switch', 'radio'] as const).map(role =>
    place.getByRole(role, { name: begins })
  )
  await others
    .reduce((found, other) => found.or(other), first ?? place)
    .first()
    .click()
  // A sheet that this opened is there for the next step.
  await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}
