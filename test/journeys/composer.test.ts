import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDevices } from '../kit/browser.ts'
import { onePixel } from '../wrapper/agents/contract.ts'
import { texts } from '../wrapper/kit/demo.ts'
import { say } from './kit/decision-world.ts'
import { openRepository } from './repository-session.ts'

// One computer for all tests: they are about a session in use.
const devices = await openDevices(t)
const { device, lookOn, session, folder } = await openRepository(t, devices)
const { page } = device
const long = `SCRIPT: slow 90000 ${'word '.repeat(400)}`
const box = { name: /message/i }

/** Waits until the queue shows these messages in this order. */
function inOrder({ page }: typeof device, words: string[]) {
  return page.waitForFunction(words => {
    const shown = [...document.querySelectorAll('.queue li')].map(each => each.textContent ?? '')
    const at = words.map(word => shown.findIndex(text => text.includes(` ${word}`)))
    return at.every((place, index) => place >= 0 && place > (at[index - 1] ?? -1))
  }, words)
}

t.test('messages sent while the agent works wait, and can be edited, withdrawn or moved up until they are read', async t => {
  const waiting = page.locator('.queue li')
  const hasIt = /^On (?!this device)/
  const other = await lookOn({})
  await say(device, long)
  await page.locator('.growing, .say').first().waitFor()
  await say(device, 'SCRIPT: text kept')
  await say(device, 'SCRIPT: text unwanted')
  await say(device, 'SCRIPT: text misspelt')
  await page.getByRole('button', { name: /3 waiting/ }).click()
  await waiting.filter({ hasText: 'unwanted' }).getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('button', { name: /2 waiting/ }).waitFor()
  await device.see('Withdrawn')
  await other.page.getByRole('button', { name: /2 waiting/ }).click()
  for (const each of [device, other])
    t.equal(await each.page.locator('.bub', { hasText: /kept|misspelt/ }).count(), 0, 'in the queue alone')
  for (const text of ['kept', 'misspelt']) await waiting.filter({ hasText: text }).getByText(hasIt).waitFor()
  await page.getByRole('textbox', box).fill('half a sentence')
  await waiting.filter({ hasText: 'misspelt' }).getByRole('button', { name: 'Edit' }).click()
  t.equal(await page.getByRole('textbox', box).inputValue(), 'SCRIPT: text misspelt', 'it is where it is written')
  t.equal(await waiting.count(), 2, 'and waits as it was until it is changed')
  await page.getByRole('textbox', box).fill('SCRIPT: text spelt')
  if (process.env['SHOTS']) await device.screenshot(join(process.env['SHOTS'], 'queue.png'))
  await page.getByRole('button', { name: 'Save change' }).click()
  t.equal(await page.getByRole('textbox', box).inputValue(), 'half a sentence', 'the previous draft is back')
  await waiting.filter({ hasText: /text spelt/ }).waitFor()
  t.equal(await waiting.filter({ hasText: 'misspelt' }).count(), 0)
  await waiting.filter({ hasText: 'spelt' }).getByRole('button', { name: 'Move up' }).click()
  for (const each of [device, other]) await inOrder(each, ['spelt', 'kept'])
  await waiting.filter({ hasText: 'kept' }).getByRole('button', { name: 'Move up' }).click()
  for (const each of [device, other]) await inOrder(each, ['kept', 'spelt'])
  await page.waitForFunction(() => document.querySelector('.queue li')?.textContent?.includes('kept'))
  for (const each of [device, other]) t.equal(await each.page.locator('.gone').count(), 1, 'only the withdrawn message says so')
  await waiting.filter({ hasText: 'spelt' }).getByRole('button', { name: 'Steer now' }).click()
  await session.until(session => texts(session).includes('kept'))
  t.strictSame(texts(session).slice(-2), ['spelt', 'kept'], 'the one that steers is first, and those taken back never come')
  await page.locator('.queue').waitFor({ state: 'detached' })
  const saidLast = page.locator('.bub, .say').last()
  await saidLast.filter({ hasText: 'kept' }).waitFor()
  t.notOk(await saidLast.evaluate(last => last.matches('.bub')), 'and its answer is below it')
  for (const each of [device, other]) {
    t.equal(await each.page.locator('.gone').count(), 1)
    t.equal(await each.page.locator('.bub', { hasText: 'spelt' }).count(), 1)
    await each.page.locator('.me', { hasText: 'kept' }).getByText('Read by Demo agent').first().waitFor({ state: 'attached' })
    await each.page.locator('.me', { hasText: 'spelt' }).getByText('Read by Demo agent').first().waitFor({ state: 'attached' })
  }
})

t.test('long-pressed, or with Alt+Enter, sending a message interrupts the current turn', async t => {
  await say(device, long)
  await page.getByRole('button', { name: 'Queue message' }).waitFor()
  await page.getByRole('textbox', box).fill(`${long} SCRIPT: text by keys ;; slow 90000 ${'word '.repeat(300)}`)
  await page.keyboard.press('Alt+Enter')
  await session.until(session => texts(session).includes('by keys'))
  await page.getByRole('textbox', box).fill('SCRIPT: text by hand')
  await page.getByRole('button', { name: 'Queue message' }).hover()
  await page.mouse.down()
  await page.waitForFunction(() => document.querySelector('textarea')?.value === '')
  await page.mouse.up()
  await session.until(session => texts(session).includes('by hand'))
  t.equal(texts(session).filter(text => text === 'by hand').length, 1)
  t.equal(await page.locator('.bub', { hasText: 'by hand' }).count(), 1, 'letting go sends nothing more')
})

t.test('messages that wait on this device for a link can be edited and withdrawn on Home, in place', async t => {
  const card = page.locator('.leaving li')
  // From now on, code that is loaded later is cached here.
  await page.evaluate(() => navigator.serviceWorker.ready)
  await device.context.setOffline(true)
  await device.see('You are offline')
  for (const name of ['apples', 'baers', 'plums']) await say(device, `SCRIPT: text ${name} came`)
  await page.getByRole('link', { name: 'Back to all sessions' }).click()
  await device.see('Sent when you are back online')
  await card.filter({ hasText: 'plums' }).getByRole('button', { name: 'Withdraw' }).click()
  await card.filter({ hasText: 'baers' }).getByRole('button', { name: 'Edit' }).click()
  await page.locator('.leaving textarea').fill('SCRIPT: text bears came')
  await page.getByRole('button', { name: 'Save' }).click()
  await card.filter({ hasText: 'bears' }).getByRole('button', { name: 'Edit' }).waitFor()
  await page.waitForFunction(() => document.activeElement?.closest('.leaving li')?.textContent?.includes('bears'))
  await card.filter({ hasText: 'apples' }).getByRole('button', { name: 'Edit' }).click()
  await page.locator('.leaving textarea').fill('SCRIPT: text pears came')
  await page.getByRole('button', { name: 'Save' }).click()
  await card.filter({ hasText: 'pears' }).waitFor()
  if (process.env['SHOTS']) await device.screenshot(join(process.env['SHOTS'], 'leaving.png'))
  await card.filter({ hasText: 'bears' }).waitFor()
  t.equal(await card.count(), 2)
  await device.context.setOffline(false)
  await session.until(session => texts(session).includes('bears came'))
  t.strictSame(texts(session).slice(-2), ['pears came', 'bears came'])
  t.notOk(
    texts(session).some(text => /plums|apples|baers/.test(text)),
    'the agent has only the new words'
  )
  await device.visit(`/s/${session.id}`)
  await page.getByRole('textbox', box).waitFor()
  await page.locator('.bub', { hasText: 'pears came' }).waitFor()
  t.equal(await page.locator('.bub', { hasText: /apples|baers/ }).count(), 0, 'and it is one entry')
})

t.test('a picture is sent with the message, reaches the agent, and is shown in the bubble, also after a reload', async t => {
  const files = page.locator('input[type=file]').first()
  await files.setInputFiles([
    { name: 'gate.png', mimeType: 'image/png', buffer: onePixel },
    { name: '24.heic', mimeType: 'image/heic', buffer: Buffer.from('no photo') },
    { name: 'film.mov', mimeType: 'video/quicktime', buffer: Buffer.alloc(11 * 1024 * 1024) }
  ])
  await device.see('24.heic could not be read')
  await device.see('film.mov is larger than 10 MB')
  await device.see('The other one is attached.')
  for (const name of ['24.heic', 'film.mov']) await page.getByRole('button', { name: `Remove ${name}` }).click()
  await page
    .locator('.att-chip')
    .getByText('70 byte')
    .or(page.locator('.att-chip', { hasText: 'gate.png' }))
    .first()
    .waitFor()
  await page.reload()
  await page.locator('.att-chip', { hasText: 'gate.png' }).waitFor()
  await page.evaluate(() => {
    const data = new DataTransfer()
    data.items.add(new File(['{"a":1}'], 'trace.json', { type: 'application/json' }))
    for (const type of ['dragover', 'drop']) dispatchEvent(new DragEvent(type, { dataTransfer: data, cancelable: true }))
  })
  await page.locator('.att-chip', { hasText: 'trace.json' }).waitFor()
  await say(device, 'SCRIPT: look')
  await device.see(/image\/png, 1 × 1/)
  const shown = () =>
    page.locator('.att-pic').evaluate(picture => (picture as HTMLImageElement).decode().then(() => (picture as HTMLImageElement).src))
  t.match(await shown(), /^blob:/, 'it is opened here, not fetched from an address')
  await page.locator('.att-list', { hasText: 'trace.json' }).waitFor()
  t.equal(await page.locator('.att-chip').count(), 0)
  await page.reload()
  t.match(await shown(), /^blob:/)
  t.strictSame(
    session.events().flatMap(event => (event.t === 'file' ? event.name : [])),
    ['gate.png', 'trace.json']
  )
  if (process.env['SHOTS']) await device.screenshot(join(process.env['SHOTS'], 'picture.png'))
})

t.test('model and effort are chosen next to the mode, and a message shows its delivery status', async t => {
  await page.getByRole('button', { name: /Ask first.*Careful/ }).click()
  if (process.env['SHOTS']) await device.screenshot(join(process.env['SHOTS'], 'mode.png'))
  await page.locator('label.sc', { hasText: 'High' }).click()
  await session.until(({ metadata }) => metadata.currentThoughtLevelCode === 'high')
  await page.locator('label.sc', { hasText: 'Quick' }).click()
  await session.until(({ metadata }) => metadata.currentModelCode === 'quick')
  await page.getByRole('radio', { name: 'High' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: /Ask first.*Quick/ }).waitFor()
  await say(device, 'SCRIPT: text heard')
  await session.until(session => texts(session).includes('heard'))
  await page
    .getByRole('button', { name: /Read by Demo agent, \d/ })
    .last()
    .click()
  const stages = page.locator('.me-more')
  await stages.getByText('Stored').waitFor()
  t.match(await stages.innerText(), /Read by Demo agent\s+\d/, 'with the time at which it was')
  await device.press('Use as draft')
  await page.waitForFunction(text => document.querySelector('textarea')?.value === text, 'SCRIPT: text heard')
  await page.getByRole('textbox', box).fill('')
})

t.test('a slash suggests the commands of the agent, an @ the files of its folder, with the keyboard alone', async t => {
  writeFileSync(join(folder, 'src/callback-two.js'), '')
  await session.until(({ metadata }) => metadata.slashCommands?.length === 3)
  const text = page.getByRole('textbox', box)
  await text.pressSequentially('/')
  await page.getByRole('option', { name: '/plan' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('option', { name: '/ask', selected: true }).getByText('Asks you something with a form.').waitFor()
  await page.keyboard.press('Enter')
  t.equal(await text.inputValue(), '/ask ')
  await text.pressSequentially('about @callback.j')
  await page.getByRole('option', { name: 'src/callback.js' }).waitFor()
  await page.keyboard.press('Tab')
  t.match(await text.inputValue(), /^\/ask about @?src\/callback\.js $/)
  await text.pressSequentially('@')
  await page.getByRole('listbox').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await text.fill('/ask')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Send' }).click()
  await device.see('Which color should the gate be?')
})
