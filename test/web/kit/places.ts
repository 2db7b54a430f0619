import type { Locator, Page } from 'playwright-core'
import { type Evil, evilName, nameOf } from './xss.ts'

interface Where {
  readonly url: string
  /** A session that waits for decisions, and one that does not. */
  readonly asking: string
  readonly calm: string
  readonly machine: string
  /** Of somebody who asks to be linked. */
  readonly pairing: string
  readonly evil: Evil
}

type Look = (place: string) => Promise<void>

/** Walks to every screen and sheet that shows what came from elsewhere; `look` is called at each. */
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
    await this.#visit(`/s/${calm}`, 'subagent.title')
    await this.#openFolds()
    await this.#see('execute.said')
    await this.#look('the steps of a session, opened')
    await this.#page.waitForFunction(hasWordsAtItsTop, nameOf('mine.picture'))
    await this.#look('the beginning of a session')
    await this.#page.getByRole('link', { name: 'All it did' }).click()
    await this.#see('subagent.prose')
    await this.#openFolds()
    await this.#see('subagent.execute.said')
    await this.#look('the trail of a subagent')
    await this.#page.goBack()
    await this.#page.locator('.composer [aria-haspopup=dialog]').first().click()
    await this.#see('model.value')
    await this.#look('the sheet of modes')
    await this.#page.keyboard.press('Escape')
    await this.#page.getByRole('textbox', { name: /message/i }).fill('/')
    await this.#see('slash')
    await this.#look('commands')
    await this.#page.getByRole('textbox', { name: /message/i }).fill('@a')
    await this.#see('found.file')
    await this.#look('files to mention')
    await this.#attach()
    await this.#visit(`/s/${calm}/info`, 'worktree.repository')
    await this.#look('session info')
  }

  async folder(): Promise<void> {
    const { calm } = this.#where
    await this.#visit(`/s/${calm}/changes`, 'git.path')
    await this.#look('changes')
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
      await this.#visit(`/s/${calm}/${path}`, field)
      await this.#look(path)
    }
    await this.#visit(`/s/${calm}/files`, 'list.name')
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
      [/^Update/, 'update.command']
    ] as const) {
      await this.#press(button)
      await this.#see(field)
      await this.#look(`a machine, ${field}`)
      await this.#page.keyboard.press('Escape')
    }
    await this.#visit(`/new?machine=${machine}&folder=/a`, 'choices.signIn')
    await this.#look('a new session')
    await this.#press(/^Folder|^a /)
    await this.#see('choices.folder')
    await this.#look('folders')
    await this.#page.keyboard.press('Escape')
    await this.#press(/^a\b/)
    await this.#press('Browse')
    await this.#see('folders.name')
    await this.#look('what is in a folder')
    await this.#page.keyboard.press('Escape')
    await this.#press(/^Continue a conversation/)
    await this.#see('history.title')
    await this.#look('conversations to go on with')
    await this.#page.keyboard.press('Escape')
    await this.#press(/^Start on/)
    await this.#see('spawn.refusal')
    await this.#look('a session that does not begin')
    await this.#visit('/search?q=a', 'session.summary')
    await this.#press(/^Also look on/)
    await this.#see('heard.sentence')
    await this.#look('what machines found')
  }

  async lists(): Promise<void> {
    for (const [path, field] of [
      ['/', 'session.summary'],
      ['/needs-you', 'session.summary'],
      ['/machines', 'machine.name'],
      ['/settings/rules', 'rule.pattern'],
      ['/settings/rules/r1', 'rule.folder'],
      ['/settings/devices', 'device.name'],
      ['/settings/access', 'access.name'],
      ['/settings/people', 'invite.label']
    ] as const) {
      await this.#visit(path, field)
      await this.#look(path)
    }
    await this.#page.getByText('A program').first().waitFor()
    await this.#look('somebody who asks to be let in')
    await this.#visit('/settings/devices', 'device.name')
    await this.#press(/^Unlink/)
    await this.#page.getByRole('dialog').getByText(nameOf('device.name')).first().waitFor()
    await this.#look('a device to unlink')
  }

  /** What an address brings along, which anybody can write. */
  async addresses(): Promise<void> {
    const { evil, machine } = this.#where
    const address = (field: string) => encodeURIComponent(evil(field).toWellFormed())
    for (const [path, field] of [
      [new URL(this.#where.pairing).pathname + new URL(this.#where.pairing).hash, 'asker.name'],
      [`/search?q=${address('query')}`, 'query'],
      [`/new?machine=${machine}&prompt=${address('prompt')}&folder=${address('folder')}`, 'folder']
    ] as const) {
      await this.#visit(path, field)
      await this.#look(`${field} of an address`)
    }
  }

  /** What a person attaches was named by somebody, too. */
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
    await this.#page.goto(this.#where.url + path)
    await this.#see(field)
  }

  async #see(field: string): Promise<void> {
    await this.#page.waitForFunction(hasWords, nameOf(field)).catch(async error => {
      // Harm may be why.
      await this.#look(`${field}, which never came up`)
      throw new Error(`${field} never came up on ${this.#page.url().slice(0, 100)}`, { cause: error })
    })
  }

  async #press(name: string | RegExp): Promise<void> {
    await this.#button(name).click()
  }

  #button(name: string | RegExp): Locator {
    return this.#page.getByRole('button', { name }).filter({ visible: true }).first()
  }

  /** Steps, and what they put out, of which the end alone is shown at first. */
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
      await next.click()
      await next.filter({ hasText: `${(at % count) + 1} of` }).waitFor()
    }
  }
}

/** The fields whose words can be read, or heard, on what is shown now. */
export async function fieldsOn(page: Page): Promise<string[]> {
  return [...(await page.evaluate(wordsOn)).matchAll(/⟦([\w.-]+)⟧/g)].flatMap(([, name]) => name ?? [])
}

function wordsOn(): string {
  const heard = ['title', 'aria-label', 'alt', 'placeholder'].flatMap(name =>
    [...document.querySelectorAll(`[${name}]`)].map(each => each.getAttribute(name))
  )
  const typed = [...document.querySelectorAll('input, textarea')].map(each => ('value' in each ? each.value : ''))
  return [document.body.textContent, ...heard, ...typed].join(' ')
}

// What is far from where a reader is is not drawn.
function hasWordsAtItsTop(name: string): boolean {
  document.querySelector('[role=log]')?.scrollTo(0, 0)
  return [...document.querySelectorAll('[role=log], [role=log] [alt]')].some(each =>
    `${each.textContent} ${each.getAttribute('alt')}`.includes(name)
  )
}

// In the page itself, which does not have the function above.
function hasWords(name: string): boolean {
  const isIn = (text: unknown) => typeof text === 'string' && text.includes(name)
  if (isIn(document.body.textContent)) return true
  for (const each of document.querySelectorAll('[title], [aria-label], input, textarea')) {
    if (isIn(each.getAttribute('title')) || isIn(each.getAttribute('aria-label')) || ('value' in each && isIn(each.value))) return true
  }
  return false
}
