import t from 'tap'
import { openChromium } from '../../kit/chromium.ts'
import { openStory } from '../kit/open-story.ts'
import { serveStories } from '../stories/serve.ts'

/** Which clicks on which elements the app follows itself. */
const clicks: [what: string, attributes: Record<string, string>, event: Record<string, number | boolean>, isFollowed: boolean][] = [
  ['a link of the app', { href: '/settings' }, {}, true],
  ['another button of the mouse', { href: '/settings' }, { button: 1 }, false],
  ...(['ctrlKey', 'metaKey', 'shiftKey', 'altKey'] as const).map((key): (typeof clicks)[number] => [
    `with ${key}`,
    { href: '/settings' },
    { [key]: true },
    false
  ]),
  ['a link of another site', { href: 'https://example.org/settings' }, {}, false],
  ['one that opens another tab', { href: '/settings', target: '_blank' }, {}, false],
  ['a file to save', { href: '/settings', download: '' }, {}, false],
  ['a place on the page', { href: '/settings#top' }, {}, false],
  ['no link', {}, {}, false]
]

t.test('the app follows its own links, and leaves to the browser what a person or a link means for it', async t => {
  const { origin, close } = await serveStories()
  t.teardown(close)
  const page = await (await openChromium(t)).newPage()
  page.setDefaultTimeout(10_000)
  await openStory(page, origin, '/?app=home', 'light')
  for (const [what, attributes, event, isFollowed] of clicks) {
    t.equal(await page.evaluate(isHandled, { attributes, event }), isFollowed, what)
    t.equal(await page.evaluate('location.pathname === "/settings"'), isFollowed, what)
    if (isFollowed) await page.goBack()
  }
})

/** Runs in the page. */
function isHandled({ attributes, event }: { attributes: Record<string, string>; event: Record<string, number | boolean> }): boolean {
  const link = document.createElement('href' in attributes ? 'a' : 'button')
  for (const [name, value] of Object.entries(attributes)) link.setAttribute(name, value)
  document.body.append(link)
  const click = new MouseEvent('click', { bubbles: true, cancelable: true, ...event })
  let isOfApp = false
  const stay = () => {
    isOfApp = click.defaultPrevented
    click.preventDefault()
  }
  addEventListener('click', stay, { once: true })
  link.dispatchEvent(click)
  link.remove()
  return isOfApp
}
