// Loaded with --import: a page tells on its console which functions it calls (calls.ts), which is noted in the folder AFIELD_CALLS.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const { launch } = chromium

chromium.launch = async function (...given) {
  const browser = await launch.apply(this, given)
  browser.on('context', context => {
    context.on('console', note)
    context.on('serviceworker', worker => worker.on('console', note))
  })
  return browser
}

function note(message) {
  const [, number] = /^afield-called (\d+)$/.exec(message.text()) ?? []
  if (number !== undefined) writeFileSync(join(process.env.AFIELD_CALLS, number), '')
}
