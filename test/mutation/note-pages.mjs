// Loaded with --import: a page tells on its console which places it reaches (notes.ts), which is noted in REACHED_FOLDER.
import { appendFileSync } from 'node:fs'
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
  const [, numbers] = /^afield-reached ([\d ]+)$/.exec(message.text()) ?? []
  if (numbers !== undefined) appendFileSync(join(process.env.REACHED_FOLDER, `${process.pid}-pages`), `${numbers.replaceAll(' ', '\n')}\n`)
}
