import t from 'tap'
import { proxyJourney } from './journey.ts'

proxyJourney(t, 'haproxy')
