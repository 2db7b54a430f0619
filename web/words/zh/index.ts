import { app } from './app.ts'
import { decide } from './decide.ts'
import { home } from './home.ts'
import { lists } from './lists.ts'
import { start } from './start.ts'
import { time } from './time.ts'

/** The app in Simplified Chinese. One term for one thing: docs/glossary.md lists them. */
export const chinese = { app, decide, home, lists, start, time }
