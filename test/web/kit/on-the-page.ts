import type { Page } from 'playwright-core'

/** Navigates like a link of the app, by way of an empty screen, so that the previous content is gone. Reloading the app takes five times as long. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(follow, path)
}

async function follow(path: string): Promise<void> {
  for (const next of ['/nowhere', path]) {
    history.pushState(null, '', next)
    dispatchEvent(new PopStateEvent('popstate'))
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
  }
}

/** The fields whose text is visible, or read out, on the current screen. */
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

/** Runs in the page: whether the top of a conversation contains these words. Parts far from the reader are not rendered. */
export function hasWordsAtItsTop(name: string): boolean {
  document.querySelector('[role=log]')?.scrollTo(0, 0)
  return [...document.querySelectorAll('[role=log], [role=log] [alt]')].some(each =>
    `${each.textContent} ${each.getAttribute('alt')}`.includes(name)
  )
}

/** Runs in the page, without access to the functions above: whether it contains these words. */
export function hasWords(name: string): boolean {
  const isIn = (text: unknown) => typeof text === 'string' && text.includes(name)
  if (isIn(document.body.textContent)) return true
  for (const each of document.querySelectorAll('[title], [aria-label], input, textarea')) {
    if (isIn(each.getAttribute('title')) || isIn(each.getAttribute('aria-label')) || ('value' in each && isIn(each.value))) return true
  }
  return false
}
