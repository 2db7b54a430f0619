import type { Page, Request } from 'playwright-core'
import { canary } from './xss.ts'

/** Records every sign that a text on a page was treated as more than text. Empty if there is none. */
export async function watchForHarm(page: Page, origin: string): Promise<{ harm(): Promise<string[]> }> {
  const seen: string[] = []
  page.on('dialog', dialog => {
    seen.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', popup => seen.push(`a window: ${popup.url()}`))
  page.on('pageerror', error => seen.push(`an error: ${error.message}`))
  page.on('request', request => {
    if (!isOurs(request, origin)) seen.push(`a request: ${request.url().slice(0, 200)}`)
  })
  page.on('console', message => {
    const isOpaque = message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(message.text())
    if (isOpaque || /content security policy|trusted ?type/i.test(message.text())) seen.push(`a complaint: ${message.text().slice(0, 300)}`)
  })
  await page.addInitScript(() => {
    const violations: string[] = []
    Object.assign(globalThis, { violations })
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      violations.push(`${violatedDirective} ${blockedURI} ${sample}`)
    )
  })
  return {
    harm: async () => [...new Set([...seen.splice(0), ...(await page.evaluate(lookAtPage, canary))])]
  }
}

// An `<img src=x>` that requests something from our own server counts as well.
function isOurs(request: Request, origin: string): boolean {
  const url = new URL(request.url())
  if (url.protocol === 'blob:' || url.protocol === 'data:') return true
  if (url.origin !== origin) return false
  const isLoaded = ['image', 'media', 'font', 'stylesheet', 'script', 'texttrack', 'ping'].includes(request.resourceType())
  return !isLoaded || /^\/(assets\/[\w.-]+|worker\.js|[\w-]+\.(svg|png|webmanifest))$/.test(url.pathname)
}

function lookAtPage(name: string): string[] {
  const found: string[] = (Reflect.get(globalThis, 'violations') ?? []).map((each: string) => `a violation: ${each}`)
  if (name in globalThis) found.push('it ran')
  const strange =
    'script, iframe, object, embed, form[action], base, meta, link, style, marquee, template, math, video, audio, area, foreignObject, [srcdoc], [style*="url"]'
  for (const element of document.body.querySelectorAll(strange)) found.push(`an element: ${element.outerHTML.slice(0, 100)}`)
  // Links that a person follows may lead to the web; everything fetched automatically must come from here.
  const followed = /^(https?:|mailto:)$/
  const own = (url: URL) => url.origin === location.origin || url.protocol === 'blob:'
  for (const element of document.body.querySelectorAll('*')) {
    const isLink = element instanceof HTMLAnchorElement
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on') || name === 'ping' || name === 'srcset') found.push(`an attribute: ${name}=${value.slice(0, 80)}`)
      // A text must not become a class, style or slot of the app.
      if (['class', 'style', 'is', 'slot'].includes(name) && value.includes('⟦')) found.push(`a name: ${name}=${value.slice(0, 80)}`)
      if (!['href', 'src', 'xlink:href', 'action', 'formaction', 'poster', 'data', 'background'].includes(name)) continue
      const url = URL.canParse(value, location.href) ? new URL(value, location.href) : undefined
      const isPicture = /^data:image\/(png|jpeg|gif|webp)/.test(value)
      const isFine = url !== undefined && (own(url) || isPicture || (isLink && followed.test(url.protocol)))
      if (!isFine) found.push(`a link: ${element.tagName} ${name}=${value.slice(0, 80)}`)
      else if (isLink && !own(url) && !/noopener/.test(element.rel)) found.push(`an opener: ${value}`)
    }
  }
  return found
}
