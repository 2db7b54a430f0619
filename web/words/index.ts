export { words } from './app.ts'
