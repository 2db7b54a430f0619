#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { homePath } from '../lib/wrapper/home/own-process.ts'

// Halves the time until a command does something. In a folder that no other person of this computer can write into, and
// only where an agent was run before: a server alone makes no such folder. Too old a Node.js lacks it, and is refused below.
const home = homePath(process.env)
if (existsSync(home)) module.enableCompileCache?.(join(home, 'compiled'))

const { main } = await import('./main.ts')
void main(process.argv.slice(2))
