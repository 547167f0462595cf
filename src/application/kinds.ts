/** Every kind of actor there is: where its stream lies and the rules that decide for it. */
import type { AggregateType } from '../actors/command.ts';
import {
  type AccountCommand,
  type AccountEvent,
  type AccountState,
  account,
  accountSnapshot,
  accountStream,
} from '../domain/account.ts';
import {
  type ApiKeyCommand,
  type ApiKeyEvent,
  type ApiKeyState,
  apiKey,
  apiKeySnapshot,
  apiKeyStream,
} from '../domain/api-key.ts';
import {
  type ConversionCommand,
  type ConversionEvent,
  type ConversionState,
  conversion,
  conversionSnapshot,
  conversionStream,
} from '../domain/conversion.ts';
import {
  type EmailCommand,
  type EmailEvent,
  type EmailState,
  email,
  emailSnapshot,
  emailStream,
} from '../domain/email.ts';
import {
  LOG_STREAM,
  type LogCommand,
  type LogEvent,
  type LogState,
  log,
  logSnapshot,
} from '../domain/log.ts';
import {
  type SessionCommand,
  type SessionEvent,
  type SessionState,
  session,
  sessionSnapshot,
  sessionStream,
} from '../domain/session.ts';
import {
  type SignInCommand,
  type SignInEvent,
  type SignInState,
  signInSnapshot,
  signInStream,
  signIns,
} from '../domain/sign-ins.ts';

export const accountActor: AggregateType<AccountState, AccountCommand, AccountEvent> = {
  name: 'account',
  stream: accountStream,
  decider: account,
  snapshot: accountSnapshot,
};

export const conversionActor: AggregateType<ConversionState, ConversionCommand, ConversionEvent> = {
  name: 'conversion',
  stream: conversionStream,
  decider: conversion,
  snapshot: conversionSnapshot,
};

export const apiKeyActor: AggregateType<ApiKeyState, ApiKeyCommand, ApiKeyEvent> = {
  name: 'apikey',
  stream: apiKeyStream,
  decider: apiKey,
  snapshot: apiKeySnapshot,
};

export const sessionActor: AggregateType<SessionState, SessionCommand, SessionEvent> = {
  name: 'session',
  stream: sessionStream,
  decider: session,
  snapshot: sessionSnapshot,
};

export const emailActor: AggregateType<EmailState, EmailCommand, EmailEvent> = {
  name: 'email',
  stream: emailStream,
  decider: email,
  snapshot: emailSnapshot,
};

export const signInActor: AggregateType<SignInState, SignInCommand, SignInEvent> = {
  name: 'signins',
  stream: signInStream,
  decider: signIns,
  snapshot: signInSnapshot,
};

export const logActor: AggregateType<LogState, LogCommand, LogEvent> = {
  name: 'log',
  stream: () => LOG_STREAM,
  decider: log,
  snapshot: logSnapshot,
};
