import type { Locator, Page } from 'playwright-core'
import type { HostileSession } from './hostile-world.ts'
import { goTo, hasWords, hasWordsAtItsTop } from './on-the-page.ts'
import { type Evil, evilName, nameOf } from './xss.ts'

interface Where {
  /** A session with open requests, and one without. */
  readonly asking: string
  readonly calm: HostileSession
  readonly machine: string
  /** The link of a program that wants to be linked. */
  readonly pairing: string
  readonly evil: Evil
}

type Look = (place: string) => Promise<void>

/** Opens every screen and sheet that shows text from elsewhere; `look` is called at each. */
export async function openEveryPlace(page: Page, where: Where, look: Look): Promise<void> {
  const places = new Places(page, where, look)
  await places.sessions()
  await places.folder()
  await places.machines()
  await places.lists()
  await places.addresses()
}

class Places {
  readonly #page: Page
  readonly #where: Where
  readonly #look: Look

  constructor(page: Page, where: Where, look: Look) {
    this.#page = page
    this.#where = where
    this.#look = look
  }

  async sessions(): Promise<void> {
    const { asking, calm } = this.#where
    await this.#visit(`/s/${asking}`, 'prose')
    await this.#page.locator('.dock').waitFor()
    await this.#walkDecisions()
    await this.#visit(`/s/${calm.id}`, 'subagent.title')
    calm.begin(this.#where.evil('partial.text'), this.#where.evil('partial.thought').split('\n').join(' '))
    await this.#see('partial.thought')
    await this.#look('a text that grows')
    await this.#openFolds()
    await this.#see('execute.said')
    await this.#look('the steps of a session, opened')
    await this.#page.waitForFunction(hasWordsAtItsTop, nameOf('mine.picture'), often)
    await this.#look('the beginning of a session')
    await this.#page.getByRole('link', { name: 'All its steps' }).click()
    await this.#see('subagent.prose')
    await this.#openFolds()
    await this.#see('subagent.execute.said')
    await this.#look('the trail of a subagent')
    await this.#page.goBack()
    await this.#page.locator('.composer [aria-haspopup=dialog]').first().click()
    await this.#seeSheet('model.description')
    await this.#look('the sheet of modes')
    await this.#close()
    await this.#page.getByRole('textbox', { name: /message/i }).fill('/')
    await this.#see('slash')
    await this.#look('commands')
    await this.#page.getByRole('textbox', { name: /message/i }).fill('@a')
    await this.#see('found.file')
    await this.#look('files to mention')
    await this.#attach()
    await this.#visit(`/s/${calm.id}/info`, 'worktree.repository')
    await this.#look('session info')
  }

  async folder(): Promise<void> {
    const { asking, calm, evil } = this.#where
    await this.#visit(`/s/${calm.id}/changes`, 'git.path')
    await this.#look('changes')
    await this.#press(/^Comment on/)
    await this.#page.locator('main textarea').first().waitFor()
    await this.#look('a comment on a file')
    await this.#press(/^Commit/)
    await this.#page.getByRole('dialog').getByRole('textbox').fill('a')
    await this.#page
      .getByRole('dialog')
      .getByRole('button', { name: /^Commit/ })
      .click()
    await this.#see('git.says')
    await this.#look('a commit that is refused')
    for (const [path, field] of [
      ['changes/a.ts', 'git.new'],
      ['files', 'list.name'],
      ['files/a.html', 'file.content'],
      ['files/a.svg', 'session.summary'],
      ['log', 'git.subject'],
      ['log/abcdef12', 'git.body']
    ] as const) {
      await this.#visit(`/s/${calm.id}/${path}`, field)
      await this.#look(path)
    }
    const name = (field: string) => encodeURIComponent(evilName(evil, field))
    await this.#visit(`/s/${calm.id}/files/${name('address.folder')}/${name('address.file')}.txt`, 'file.content')
    await this.#look('a file in a folder')
    await this.#press('Edit')
    await this.#page.locator('main form textarea').first().waitFor()
    await this.#look('a file that is edited')
    await this.#visit(`/s/${asking}/changes`, 'git.branch')
    await this.#look('nothing changed')
    await this.#visit(`/s/${calm.id}/files`, 'list.name')
    await this.#page.getByRole('searchbox').or(this.#page.getByPlaceholder('Search')).first().fill('a')
    await this.#see('found.file')
    await this.#look('files found')
    await this.#page.getByRole('radio', { name: 'Text' }).check()
    await this.#see('found.text')
    await this.#look('text found')
  }

  async machines(): Promise<void> {
    const { machine } = this.#where
    await this.#visit(`/machines/${machine}`, 'choices.agent')
    await this.#see('copy.branch')
    await this.#look('a machine')
    for (const [button, field] of [
      [/^Log/, 'log.line'],
      [/^Update/, 'update.command'],
      [/^Update/, 'update.message'],
      [/^End /, 'process.true.title'],
      [/^Remove/, 'copy.path']
    ] as const) {
      await this.#press(button)
      await this.#seeSheet(field)
      await this.#look(`a machine, ${field}`)
      await this.#close()
    }
    await this.#visit(`/new?machine=${machine}&folder=/a`, 'choices.signIn')
    await this.#look('a new session')
    await this.#press(/^Folder|^a /)
    await this.#seeSheet('choices.folder')
    await this.#look('folders')
    await this.#close()
    await this.#press(/^a\b/)
    await this.#press('Browse')
    await this.#seeSheet('folders.name')
    await this.#look('what is in a folder')
    await this.#page.getByRole('dialog').getByText(nameOf('folders.name')).first().click()
    await this.#seeSheet('folders.refusal')
    await this.#look('a folder that cannot be read')
    await this.#close()
    await this.#press(/^Continue a conversation/)
    await this.#seeSheet('history.title')
    await this.#look('conversations to go on with')
    await this.#close()
    await this.#press(/^Start on/)
    await this.#see('spawn.refusal')
    await this.#look('a session that does not begin')
    await this.#visit('/search?q=a', 'session.summary')
    await this.#press(/^Also search/)
    await this.#see('heard.sentence')
    await this.#look('what machines found')
    await this.#visit(`/search?in=${this.#where.calm.id}`, 'session.summary')
    await this.#look('search in a session')
  }

  async lists(): Promise<void> {
    for (const [path, field] of [
      ['/', 'session.summary'],
      ['/needs-you', 'session.summary'],
      ['/needs-you/ask.other', 'ask.other.tool'],
      ['/archive', 'session.summary'],
      ['/machines', 'silent.name'],
      ['/settings/rules', 'rule.pattern'],
      ['/settings/rules/r1', 'trial.what'],
      ['/settings/devices', 'device.name'],
      ['/settings/access', 'access.name'],
      ['/settings/people', 'invite.label'],
      ['/settings/about', 'machine.version']
    ] as const) {
      await this.#visit(path, field)
      if (path === '/settings/people') await this.#page.getByText('A program').first().waitFor()
      await this.#look(path)
    }
    await this.#visit('/settings/devices', 'device.name')
    await this.#press(/^Unlink/)
    await this.#page.getByRole('dialog').getByText(nameOf('device.name')).first().waitFor()
    await this.#look('a device to unlink')
    await this.#visit('/', 'session.summary')
    await this.#page.keyboard.press('Control+k')
    await this.#page.locator('dialog.palette').getByText(nameOf('session.summary')).first().waitFor()
    await this.#look('what can be gone to')
    await this.#page.keyboard.press('Escape')
    await this.#page.locator('dialog.palette').waitFor({ state: 'detached' })
    await this.#press(/^More for/)
    await this.#page.getByRole('menuitem', { name: 'Select' }).click()
    await this.#page.getByRole('checkbox').first().waitFor()
    await this.#look('sessions to pick')
  }

  /** Text from the address, which anyone can write. */
  async addresses(): Promise<void> {
    const { evil, machine } = this.#where
    const address = (field: string) => encodeURIComponent(evil(field).toWellFormed())
    for (const [path, field] of [
      [new URL(this.#where.pairing).pathname + new URL(this.#where.pairing).hash, 'asker.name'],
      [`/search?q=${address('query')}`, 'query'],
      [`/new?machine=${machine}&prompt=${address('prompt')}&folder=${encodeURIComponent(`/${evilName(evil, 'folder')}`)}`, 'folder']
    ] as const) {
      await this.#visit(path, field)
      await this.#look(`${field} of an address`)
    }
    await this.#press(/^Start on/)
    await this.#seeSheet('folder')
    await this.#look('a folder to make')
  }

  /** Names of attached files, which may come from someone else. */
  async #attach(): Promise<void> {
    const { evil } = this.#where
    const file = (field: string, text: string) => ({ name: evilName(evil, field), mimeType: 'text/plain', buffer: Buffer.from(text) })
    const input = this.#page.locator('input[type=file]').last()
    await input.setInputFiles([file('attached.name', 'a'), file('attached.empty', '')])
    await this.#see('attached.name')
    await this.#see('attached.empty')
    await this.#look('attached files')
  }

  async #visit(path: string, field: string): Promise<void> {
    await goTo(this.#page, path)
    await this.#see(field)
  }

  async #close(): Promise<void> {
    await this.#page.keyboard.press('Escape')
    await this.#page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  async #see(field: string): Promise<void> {
    await this.#page.waitForFunction(hasWords, nameOf(field), often).catch(async error => {
      // Harm on the page may be the cause.
      await this.#look(`${field}, which never came up`)
      throw new Error(`${field} never came up on ${this.#page.url().slice(0, 100)}`, { cause: error })
    })
  }

  async #seeSheet(field: string): Promise<void> {
    await this.#page.getByRole('dialog').getByText(nameOf(field)).first().waitFor()
  }

  async #press(name: string | RegExp): Promise<void> {
    await this.#button(name).click()
  }

  #button(name: string | RegExp): Locator {
    return this.#page.getByRole('button', { name }).filter({ visible: true }).first()
  }

  /** Steps and their output, of which at first only the end is shown. */
  async #openFolds(): Promise<void> {
    await this.#page.evaluate(async () => {
      for (const folds of ['.tool-s', '.tool-b button']) {
        for (const fold of document.querySelectorAll<HTMLElement>(`${folds}[aria-expanded=false]`)) fold.click()
        await new Promise(requestAnimationFrame)
      }
    })
  }

  async #walkDecisions(): Promise<void> {
    const next = this.#page.locator('.dock .nxt')
    const count = Number(/of (\d+)/.exec(await next.innerText())?.[1] ?? 1)
    for (let at = 1; at <= count; at++) {
      await this.#look(`decision ${at} of ${count}`)
      await this.#lookAround(`decision ${at}`)
      await next.click()
      // A form with several questions counts only those.
      await next.filter({ hasText: new RegExp(`^\\s*(${(at % count) + 1} of|Next decision)`) }).waitFor()
    }
  }

  /** Everything that one decision can open. */
  async #lookAround(place: string): Promise<void> {
    const dock = this.#page.locator('.dock')
    const scope = dock.getByRole('radio', { name: 'This session' })
    if (await scope.isVisible()) {
      await scope.check()
      await this.#look(`${place}, for the session`)
    }
    const always = dock.getByRole('button', { name: 'Always' })
    if (await always.isVisible()) {
      await always.click()
      await this.#seeSheet('before.what')
      await this.#look(`${place}, always`)
      await this.#close()
    }
    const next = dock.getByRole('button', { name: 'Next', exact: true })
    while (await next.isVisible()) {
      await next.click()
      await this.#look(`${place}, its next question`)
    }
  }
}

// The default, every frame, would spend most of the time on polling.
const often = { polling: 50 }
