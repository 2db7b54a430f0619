// The negative control of the kills, loaded into the wrapper with --import: what an agent said has another name each time it is
// told, so that the server does not recognize what a restarted wrapper tells again.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/wrapper/session/output/narrator.ts', text => text.replace('name === undefined ? undefined : idOfRow(name)', 'undefined'))
