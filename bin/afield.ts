#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { homePath } from '../lib/wrapper/home/own-process.ts'

// Halves the start-up time of a command. The cache is in a folder that no other user can write to, and is used only
// where an agent was run before: a server alone does not create that folder. A Node.js without this function is too
// old and is rejected below.
const home = homePath(process.env)
if (existsSync(home)) module.enableCompileCache?.(join(home, 'compiled'))

const { main } = await import('./main.ts')
void main(process.argv.slice(2))
