import { localized } from './localized.ts'

/** `ctrl k` and `?` are keys, `type 1234` fills the field of the screen, `hold` holds its button, `see this` waits for words, `again Deny` presses until that has an effect, since a button that came just now ignores it; all else begins the name of what is pressed, after `dialog` in the sheet that opens. Words and names are the English ones in every language. */
export async function press(what: string): Promise<void> {
  if (what === '?' || what.startsWith('ctrl ')) {
    const key = what.replace('ctrl ', '')
    dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: key !== what, bubbles: true }))
    document.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: key !== what, bubbles: true }))
    return
  }
  if (what.startsWith('see ')) {
    const words = localized(what.replace('see ', ''))
    await found(() => words.test(document.body.textContent ?? '') || undefined)
    return
  }
  if (what.startsWith('type ')) {
    const input = await found(() => document.querySelector<HTMLInputElement>('main input'))
    input.value = what.replace('type ', '')
    input.dispatchEvent(new InputEvent('input', { bubbles: true }))
    return
  }
  if (what.startsWith('again ')) {
    const name = new RegExp(`^(${localized(what.replace('again ', '')).source})`)
    return pressUntilGone(await found(() => calledIn('main', name)))
  }
  const place = what.startsWith('dialog ') ? 'dialog[open]' : 'main'
  const name = new RegExp(`^(${localized(what.replace(/^dialog /, '')).source})`)
  // On a desktop, Home is beside the main pane.
  const pressed = await found(() => calledIn(place, name) ?? calledIn('.list-pane', name))
  pressed.click()
}

/** Presses in each frame, until the button is gone. */
async function pressUntilGone(button: HTMLElement): Promise<void> {
  while (button.isConnected) {
    button.click()
    await new Promise(resolve => requestAnimationFrame(resolve))
  }
}

function calledIn(place: string, name: RegExp): HTMLElement | undefined {
  const all = document.querySelectorAll<HTMLElement>(['button', 'a', 'label', 'summary'].map(each => `${place} ${each}`).join())
  return [...all].find(each => isCalled(each, name))
}

function isCalled(element: HTMLElement, name: RegExp): boolean {
  const isOff = element.matches(':disabled, [aria-disabled="true"]')
  return !isOff && name.test((element.getAttribute('aria-label') ?? element.textContent ?? '').trim())
}

/** Waits until the element is there. */
function found<Found>(look: () => Found | null | undefined): Promise<Found> {
  const { promise, resolve } = Promise.withResolvers<Found>()
  const again = () => {
    const seen = look()
    if (!seen) return
    watching.disconnect()
    resolve(seen)
  }
  const watching = new MutationObserver(again)
  watching.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true })
  again()
  return promise
}
