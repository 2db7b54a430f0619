#!/usr/bin/env node
import { main } from './main.ts'

void main(process.argv.slice(2))
