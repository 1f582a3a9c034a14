#!/usr/bin/env node
import './require-node';
import './start-flags';
import { runCommand } from './commands';

void runCommand(process.argv.slice(2));
