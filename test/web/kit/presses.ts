import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diffArrays } from 'diff'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { serveStories } from '../stories/serve.ts'
import {
  ariaSnapshotsOf,
  type Group,
  inLanes,
  openPage,
  pathsOf,
  sectionsIn,
  sectionsOf,
  snapshotOf,
  stillAfterMs
} from './aria-snapshots.ts'
import { openStory } from './open-story.ts'

const mostMs = 10_000
const framesMs = 100
const frameMs = 16
/** What is shown for a while, such as a toast, is gone by then. */
const laterMs = 30_000
/** Of buttons that do the same on a screen, such as those of rows, so many are pressed. */
const mostAlike = 2
const mostItems = 20
/** One after the other, each in what the one before shows. */
const mostSteps = 3
/** In a sheet and in a menu. */
const layerKeys = ['key ArrowDown', 'key ArrowUp', 'key End', 'key Escape']
/** What a form may have several of. */
const isField = /^(?:text|textarea|search|password|number|url|date|time) /
const between = ' › '
const later = '\n## later\n'

/**
 * Compares what each press in each story of a group does with what `test/web/presses` says: what appears and goes at once and
 * later, the address, what has the focus, what is stored, and what is asked for. With `TAP_SNAPSHOT=1` it finds the buttons and
 * fields of the stories, and of sheets and menus that these open, and writes the file.
 */
export async function checkPresses(t: Test, group: Group): Promise<void> {
  const presses = join(import.meta.dirname, `../presses/${group}.txt`)
  const before = ariaSnapshotsOf(group)
  const { origin, close } = await serveStories()
  t.teardown(close)
  const browser = await openChromium(t)
  const open = async (path: string) => {
    const page = await openPage(browser)
    await prepare(page)
    await openStory(page, origin, path, 'light')
    await page.clock.pauseAt(stillAfterMs)
    const known = before.get(path)
    return new Story(
      page,
      origin,
      await untilSettled(
        () => stillSnapshotOf(page, origin),
        known === undefined ? undefined : withoutDurations(known),
        ms => page.clock.runFor(ms)
      )
    )
  }
  if (process.env['TAP_SNAPSHOT'] === '1') {
    const paths = await pathsOf(group, browser, origin)
    writeFileSync(presses, sectionsOf(await explore(paths, open, line => t.comment(line))))
    return
  }
  const known = sectionsIn(presses)
  const titles = [...known.keys()]
  // What others begin with is compared on their way.
  const whole = titles.filter(title => !titles.some(other => other.startsWith(`${title}${between}`)))
  /** What each step did, by its title; with the error where one could not be taken. */
  const perform = async (path: string, steps: readonly string[]) => {
    const did = new Map<string, string>()
    const story = await open(path)
    try {
      for (const [at, step] of steps.entries()) {
        const pressed = [path, ...steps.slice(0, at + 1)].join(between)
        did.set(pressed, await story.press(step, known.get(pressed)).catch(String))
      }
    } finally {
      await story.close()
    }
    return did
  }
  await inLanes(whole, async title => {
    const [path = '', ...steps] = title.split(between)
    const first = await perform(path, steps)
    const isAsKnown = [...first].every(([pressed, did]) => did === known.get(pressed))
    // What only a slow page did otherwise, another does not; what has changed differs twice.
    for (const [pressed, did] of isAsKnown ? first : await perform(path, steps)) t.equal(did, known.get(pressed), pressed)
  })
  t.ok(known.size > 0, 'something was pressed')
}

/** A story in a page whose clock stands still but for what passes while it is looked at. */
class Story {
  readonly #page: Page
  readonly #origin: string
  #shown: string
  /** What the page had when no sheet was open. */
  #behind: string | undefined

  constructor(page: Page, origin: string, shown: string) {
    this.#page = page
    this.#origin = origin
    this.#shown = shown
    if (!isSheet(shown)) this.#behind = shown
  }

  controls(): Promise<Control[]> {
    return this.#page.evaluate(() => Reflect.get(globalThis, 'controls')())
  }

  /** What is in the same place with the same handlers does the same. */
  place(): Promise<string> {
    return this.#page.evaluate(() => {
      const layer = Reflect.get(globalThis, 'layer')()
      return layer
        ? `${layer.getAttribute('aria-label')} ${layer.querySelector('h1, h2')?.textContent}`
        : location.pathname.replace(/^\/(s|machines|d)\/[^/]+/, '/$1/x')
    })
  }

  /** Resolves to what this did at once and later: as soon as that is as wanted, or when nothing changes any more. */
  async press(step: string, wanted: string | undefined): Promise<string> {
    await this.#page.evaluate(() => Reflect.get(globalThis, 'forget')())
    const address = this.#page.url()
    if (step.startsWith('key ')) await this.#page.keyboard.press(step.replace('key ', ''))
    else await this.#act(step)
    const [wantedNow, wantedLater = 'nothing'] = wanted?.split(later) ?? []
    const now = await this.#settle(address, wantedNow)
    await this.#page.evaluate(() => Reflect.get(globalThis, 'forget')())
    const addressNow = this.#page.url()
    await this.#page.clock.fastForward(laterMs)
    const then = await this.#settle(addressNow, wanted === undefined ? undefined : wantedLater)
    return then === 'nothing' ? now : `${now}${later}${then}`
  }

  /** A control may come a moment after what it is part of. */
  async #act(step: string): Promise<void> {
    const until = performance.now() + mostMs
    while (!(await this.#page.evaluate(step => Reflect.get(globalThis, 'act')(step), step))) {
      if (performance.now() > until) throw new Error(`There is no ${step}.`)
      await this.#page.clock.runFor(frameMs)
    }
  }

  close(): Promise<void> {
    return this.#page.context().close()
  }

  async #settle(address: string, wanted: string | undefined): Promise<string> {
    let shown = ''
    const look = async () => {
      shown = await stillSnapshotOf(this.#page, this.#origin)
      return [...(await this.#noted(address)), ...this.#changesTo(shown, address)].join('\n') || 'nothing'
    }
    const did = await untilSettled(look, wanted, ms => this.#page.clock.runFor(ms))
    this.#shown = shown
    if (!isSheet(shown)) this.#behind = shown
    return did
  }

  async #noted(address: string): Promise<string[]> {
    const noted: string[] = await this.#page.evaluate(() => Reflect.get(globalThis, 'noted')())
    const now = this.#page.url()
    return now === address ? noted : [`at ${now.replace(this.#origin, '')}`, ...noted]
  }

  /** Of another page the heading, of a sheet that opens all, and otherwise the lines that are new or gone. */
  #changesTo(shown: string, address: string): string[] {
    const pathOf = (url: string) => new URL(url).pathname
    if (pathOf(this.#page.url()) !== pathOf(address)) return shown.match(/(?:heading|dialog) .*/)?.slice(0, 1) ?? []
    if (isSheet(shown) && !isSheet(this.#shown)) return [shown]
    if (isSheet(shown) || !isSheet(this.#shown)) return changes(this.#shown, shown)
    return ['closes', ...(this.#behind === undefined ? [] : changes(this.#behind, shown))]
  }
}

/** Looks until it is as wanted; without a wish, until nothing changes any more. */
async function untilSettled(look: () => Promise<string>, wanted: string | undefined, pass: (ms: number) => Promise<void>): Promise<string> {
  const until = performance.now() + mostMs
  let found = ''
  for (let looks = 0, same = 0; same < 3 && performance.now() < until; looks++) {
    // Later only what has to be rendered: a toast stays for some seconds, however slow the machine is.
    await pass(looks < 4 ? framesMs : frameMs)
    const before = found
    found = await look()
    if (found === wanted) break
    same = wanted === undefined && found === before ? same + 1 : 0
  }
  return found
}

/** Without how long something takes: on a slower machine it takes longer. */
async function stillSnapshotOf(page: Page, origin: string): Promise<string> {
  return withoutDurations(await snapshotOf(page, origin))
}

function withoutDurations(snapshot: string): string {
  return snapshot.replaceAll(/(?:\d+ h )?\d+ min(?: … s)?|… s\b/g, '…')
}

function isSheet(snapshot: string): boolean {
  return snapshot.startsWith('- dialog')
}

/** The lines that are gone, then those that are new. A menu that closes was in the file when it opened. */
function changes(before: string, after: string): string[] {
  const parts = diffArrays(before.split('\n'), after.split('\n'))
  const gone = parts.flatMap(({ removed, value }) => (removed ? value.filter(line => !/^ *- menu/.test(line)) : []))
  const fresh = parts.flatMap(({ added, value }) => (added ? value : []))
  return [...gone.map(line => `- ${line}`), ...fresh.map(line => `+ ${line}`)]
}

/** A button or field by what it is and says, and what it does: where that is the same, so are the handlers. */
interface Control {
  step: string
  does: string
}

/** For a page, before anything runs in it. */
async function prepare(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const asked = (): string[] => Reflect.get(globalThis, 'asked') ?? []
    const stored = () => new Map(Object.entries(localStorage).map(([name, value]) => [name, String(value)]))
    let before = new Map<string, string>()
    let focused: Element | null = null
    const nameOf = (element: Element) => {
      const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined
      const name = element.getAttribute('aria-label') ?? label ?? (element.textContent || element.getAttribute('placeholder') || '')
      return name
        .replaceAll(/[\s›]+/g, ' ')
        .replaceAll(location.host, 'home.example')
        .trim()
        .slice(0, 60)
    }
    const kindOf = (element: Element) =>
      element.getAttribute('role') ?? (element instanceof HTMLInputElement ? element.type : element.tagName.toLowerCase())
    const stepOf = (element: Element) => `${kindOf(element)} "${nameOf(element)}"`
    // The list of the palette belongs to its field.
    const layer = () => [...document.querySelectorAll('dialog[open], [role=menu], [role=listbox]:not(dialog *)')].at(-1)
    const all = () => {
      const found = (layer() ?? document.body).querySelectorAll<HTMLElement>('button, input, textarea, select, summary, [role]')
      const isShown = (element: HTMLElement) => element.checkVisibility() || element.matches('[type=file]')
      return [...found].filter(element => isShown(element) && !element.matches(':disabled, [aria-disabled=true]'))
    }
    const handlersOf = (element: object) => Object.entries(Reflect.get(element, '__e') ?? {}).map(([name, handler]) => `${name} ${handler}`)
    /** The app renders in a microtask; its timers stand still. */
    const rendered = async () => {
      for (let microtasks = 0; microtasks < 20; microtasks++) await undefined
    }
    const choose = (field: HTMLInputElement) => {
      const { items, files } = new DataTransfer()
      items.add(new File(['Keep the old path.'], 'notes.txt', { type: 'text/plain' }))
      field.files = files
      field.dispatchEvent(new Event('change', { bubbles: true }))
    }
    const type = async (field: HTMLInputElement | HTMLTextAreaElement) => {
      const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value') ?? {}
      const texts: Record<string, string> = {
        ...{ number: '7', time: '07:00', url: 'https://home.example/', date: '2026-03-04' },
        password: 'lunar maple river'
      }
      set?.call(field, texts[field.type] ?? 'return')
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
      field.dispatchEvent(new Event('change', { bubbles: true }))
      await rendered()
      const isOn = field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
      if (isOn && field instanceof HTMLInputElement) field.form?.requestSubmit()
    }
    Object.assign(globalThis, {
      layer,
      controls: () =>
        all()
          .map(element => ({ step: stepOf(element), does: handlersOf(element).join('; ') }))
          .filter(({ does, step }) => does !== '' || /^(?:text|textarea|search|password|select|summary)/.test(step)),
      async act(step: string) {
        const element = all().find(each => stepOf(each) === step)
        if (element === undefined) return false
        element.focus()
        focused = document.activeElement
        if (element instanceof HTMLSelectElement) {
          element.selectedIndex = element.options.length - 1
          element.dispatchEvent(new Event('change', { bubbles: true }))
        } else if (element instanceof HTMLInputElement && element.type === 'file') {
          choose(element)
        } else if (
          element instanceof HTMLTextAreaElement ||
          (element instanceof HTMLInputElement && !/checkbox|radio|range/.test(element.type))
        )
          await type(element)
        else element.click()
        return true
      },
      forget() {
        asked().length = 0
        before = stored()
        focused = document.activeElement
      },
      noted() {
        const now = stored()
        const kept = [...now].filter(([name, value]) => before.get(name) !== value).map(([name, value]) => `keeps ${name}=${value}`)
        const gone = [...before.keys()].filter(name => !now.has(name)).map(name => `forgets ${name}`)
        const focus = document.activeElement
        const held = focus && focus !== focused && focus !== document.body ? [`focus ${stepOf(focus)}`] : []
        // Each start has an id of its own, and each run a port.
        const still = asked().map(each =>
          each.replaceAll(location.host, 'home.example').replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '…')
        )
        return [...new Set(still)]
          .toSorted()
          .map(each => `asks ${each}`)
          .concat(kept, gone, held)
      }
    })
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text: string) => asked().push(`copies ${text}`), readText: async () => 'https://home.example/' }
    })
  })
}

/** Presses what is not known yet, also in what a press shows, and what that shows in turn. */
async function explore(
  paths: readonly string[],
  open: (path: string) => Promise<Story>,
  say: (line: string) => void
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const isNew = newControls()
  /** Opens a story, presses all steps to a place, and closes it again. */
  const visit = async <Seen>([path = '', ...steps]: readonly string[], see: (story: Story) => Promise<Seen>) => {
    const story = await open(path)
    try {
      for (const at of steps.keys()) await story.press(steps[at] ?? '', found.get([path, ...steps.slice(0, at + 1)].join(between)))
      return await see(story)
    } catch (error) {
      say(`${[path, ...steps].join(between)}: ${error}`)
      return undefined
    } finally {
      await story.close()
    }
  }
  const look = (at: readonly string[]) => visit(at, async story => ({ at, place: await story.place(), controls: await story.controls() }))
  const press = ({ at, steps }: { at: readonly string[]; steps: readonly string[] }) =>
    visit(at, async story => {
      let did = 'nothing'
      for (const index of steps.keys()) {
        did = await story.press(steps[index] ?? '', undefined)
        found.set([...at, ...steps.slice(0, index + 1)].join(between), did)
      }
      const isOver = did === 'nothing' || did.startsWith('at ') || steps[0]?.startsWith('key ')
      return isOver ? undefined : [...at, ...steps]
    })
  let level: (readonly string[])[] = paths.map(path => [path])
  for (let steps = 0; steps < mostSteps; steps++) {
    // What is pressed does not depend on which page was faster.
    const seen = await inLanes(level, look)
    const next = seen.flatMap(({ at, place, controls }) => {
      const fresh = controls.filter(control => isNew(place, control)).map(({ step }) => step)
      const keys = isLayer(place) && fresh.length > 0 ? [layerKeys] : []
      const fields = fresh.filter(step => isField.test(step))
      const form = fields.length > 1 ? [fields] : []
      return [...fresh.map(step => [step]), ...form, ...keys].map(steps => ({ at, steps }))
    })
    level = await inLanes(next, press)
  }
  const orderOf = (title: string) => paths.indexOf(title.split(between, 1)[0] ?? '')
  // What does nothing is left out, unless something follows.
  const isWorth = ([title, did]: [string, string]) =>
    did !== 'nothing' || found.keys().some(other => other.startsWith(`${title}${between}`))
  return new Map([...found].filter(isWorth).toSorted(([a], [b]) => orderOf(a) - orderOf(b)))
}

function newControls(): (place: string, control: Control) => boolean {
  const pressed = new Map<string, number>()
  return (place, { step, does }) => {
    const kind = step.split(' ', 1)[0] ?? ''
    const alike = `${place} ${kind} ${does === '' ? step : does}`
    const exactly = `${place} ${step.replaceAll(/\d+/g, '#')} ${does}`
    // All items of a menu have the handler of the menu.
    const most = kind === 'menuitem' ? mostItems : mostAlike
    const times = pressed.get(alike) ?? 0
    if (times >= most || pressed.has(exactly)) return false
    pressed.set(alike, times + 1).set(exactly, 1)
    return true
  }
}

function isLayer(place: string): boolean {
  return !place.startsWith('/')
}
