import Logging

// Every event that any process logs. A test checks docs/log-events.md against this table.
extension LogEvent {
    package static let all: [LogEvent] = [
        alertCleared, alertRaised, anchorRefused, anchorReset, appBackground, authorizationAsked, backendChanged,
        backendFailed, backendLacks, backendListening, backendMoved, backendRolledBack, backendRowsMissing, busDenied,
        busFailed, busRefused, busReopened,
        busUnreadable, conditionsReconciled, conditionsWatched, dashboardFailed, dashboardListening, dashboardMoved,
        dayFailed,
        deadletterAdded, debounceFinished, deliveryConflict, deliveryStopped,
        deviceChanged, deviceRefused, execDropped, execFailed, execSaid, execStarted, figureCollides, figuresOutdated,
        followRefused, historyCompleted, historyStarted, hubListening, importDiffers, importEnded, importReceiving,
        importSenderGone,
        importStarted, inboxFound, inboxStuck, inboxTrouble, inboxWatched, ingestCertificate, ingestFileLost,
        ingestFollowed, ingestFollowFailed, ingestFollowRecovered, ingestFollowsAgain, ingestListening, ingestMoved,
        ingestPhoneRefused, ingestTokensUnreadable, ingestTokenUse,
        instanceStandby, instanceStarted,
        instanceStopped, repairBegun, repairEnded, messageForeign, messageMalformed, notifyFailed, notifyGivenUp,
        observerAcknowledged,
        observerFired,
        observerUnheard, page, pageInaccessible, pathChanged, pathUnknown, pendingAdded, pullRefused, processEnded,
        processGivenUp,
        processKilled, processLate, processReady, processReplaced, processRestarting, processStarted, processStopped,
        processUnstartable, proofBegun, proofEnded, refusalUnknown, registrationRefused,
        registrationRenewed, stackStopped, stackStopping, standbyEnded, syncMetric, syncRequested, syncSummary,
        taskCancelled,
        taskCompleted, taskExpired, taskRefused,
        taskScheduled, taskStarted, taskWaits, uploadPaused, uploadRetry, versionsRenewed, zonesChanged,
    ]
}

// What HealthKit and the app do when samples change.
extension LogEvent {
    package static let observerFired = LogEvent(
        "observer.fired", .debug,
        "An observer query fired: a type changed.",
        ["type": "HealthKit's identifier, or other", "locked": "whether the device is; only the observer knows"])
    package static let observerUnheard = LogEvent(
        "observer.unheard", .notice, "A type changed, and nobody is registered for it.",
        ["type": "HealthKit's identifier, or other"])
    package static let observerAcknowledged = LogEvent(
        "observer.acknowledged", .debug, "A consumer called the completion handlers.",
        ["consumer": "its instance", "types": "how many"])
    package static let page = LogEvent(
        "page", .debug, "The answer to an anchored query arrived.",
        [
            "upstream": "whose it is", "added": "samples or rows", "deleted": "samples or rows",
            "through": "the new anchor",
        ])
    package static let pageInaccessible = LogEvent(
        "page.inaccessible", .info, "The device is locked: nothing can be read, and no anchor moves.",
        ["upstream": "whose it is"])
    package static let pendingAdded = LogEvent(
        "pending.added", .info, "A type waits in the pending set.",
        ["type": "HealthKit's identifier, or other"])
    package static let debounceFinished = LogEvent(
        "debounce.finished", .debug, "Windows closed: types are released, or wait for a task.",
        ["types": "how many"])
    package static let registrationRenewed = LogEvent(
        "registration.renewed", .info, "A consumer registered for background delivery.",
        ["consumer": "its instance", "launch": "which start"])
    package static let registrationRefused = LogEvent(
        "registration.refused", .error, "A consumer may not be woken in the background.",
        ["consumer": "its instance", "why": "the reason, and what to do"])
    package static let authorizationAsked = LogEvent(
        "authorization.asked", .notice, "A consumer asks again to read a type.",
        ["consumer": "its instance", "type": "HealthKit's identifier, or other"])
    package static let deliveryStopped = LogEvent(
        "delivery.stopped", .error, "A consumer missed too many fires, and is no longer woken.",
        ["consumer": "its instance"])
    package static let deviceChanged = LogEvent(
        "device.changed", .info, "The device's state changed.",
        ["app": "its state", "locked": "whether it is", "deferring": "whether it gives no background time"])
    package static let deviceRefused = LogEvent(
        "device.refused", .error, "A command about the device can't be carried out.",
        ["why": "the reason, and what to do"])
    package static let appBackground = LogEvent(
        "app.background", .info, "The app left the screen.", ["pending": "types waiting"])
}

// Tasks and syncs.
extension LogEvent {
    package static let taskScheduled = LogEvent(
        "task.scheduled", .info, "A task was submitted.",
        ["task": "its identifier", "earliest": "ISO 8601 in UTC, or now"])
    package static let taskStarted = LogEvent(
        "task.started", .info, "A task was launched.", ["task": "its identifier"])
    package static let taskCompleted = LogEvent(
        "task.completed", .info, "A task ended.",
        [
            "task": "its identifier", "outcome": "succeeded, failed or cancelled",
            "seconds": "how long it took, or until the next try",
        ])
    package static let taskExpired = LogEvent(
        "task.expired", .info, "A task ran out of time.",
        [
            "task": "its identifier", "outcome": "expired or overran",
            "seconds": "how long it took, or until the next try",
        ])
    package static let taskWaits = LogEvent(
        "task.waits", .notice, "A task is due but can't begin yet.",
        ["task": "its identifier", "for": "what it waits for"])
    package static let taskCancelled = LogEvent(
        "task.cancelled", .info, "A pending task was cancelled.", ["task": "its identifier"])
    package static let taskRefused = LogEvent(
        "task.refused", .error, "A command about a task can't be carried out.", ["why": "the reason, and what to do"])
    package static let syncMetric = LogEvent(
        "sync.metric", .debug, failing: .notice, "A consumer's part in a sync.",
        [
            "consumer": "its instance", "outcome": "starting, completed or failed",
            "seconds": "how long it took, or until the next try",
            "why": "the reason, and what to do",
        ])
    package static let syncRequested = LogEvent(
        "sync.requested", .info, "A program at the ingest, or a backend in an answer, asked for a sync.",
        ["from": "the token's id, or the destination", "outcome": "woken, locked, not woken or used up"])
    package static let syncSummary = LogEvent(
        "sync.summary", .debug, failing: .notice, "A sync ended.",
        [
            "reason": "what it was for", "completed": "how many consumers", "failed": "how many consumers",
            "seconds": "how long it took, or until the next try",
        ])
    package static let historyStarted = LogEvent(
        "history.started", .info, "Past days are being delivered again.",
        ["chunks": "how many", "from": "the first day"])
    package static let historyCompleted = LogEvent(
        "history.completed", .info, "Past days were delivered again.", ["chunks": "how many"])
}

// Imports, days, alerts.
extension LogEvent {
    package static let importStarted = LogEvent(
        "import.started", .info, "The observer began to read a file.", ["id": "the import's"])
    package static let importEnded = LogEvent(
        "import.ended", .info, "Reading a file has ended, or isn't possible.",
        ["id": "the import's", "state": "the outcome"])
    package static let importReceiving = LogEvent(
        "import.receiving", .info,
        "The observer asks a command for a file's bytes.",
        ["id": "the import's"])
    package static let importSenderGone = LogEvent(
        "import.sender-gone", .notice,
        "The command that sends a file is gone; what has arrived is kept.",
        ["id": "the import's"])
    package static let inboxFound = LogEvent(
        "inbox.found", .info, "A complete file is in the inbox folder.", ["id": "the import's"])
    package static let inboxStuck = LogEvent(
        "inbox.stuck", .error, "A file can't be moved out of the inbox folder; this is retried every minute.",
        ["id": "the import's", "why": "the reason, and what to do"])
    package static let inboxTrouble = LogEvent(
        "inbox.trouble", .error, "Files can't be taken from the inbox folder; it keeps being checked.",
        ["why": "the reason, and what to do"])
    package static let inboxWatched = LogEvent(
        "inbox.watched", .info, "Files are taken from the inbox folder from now on.")
    package static let importDiffers = LogEvent(
        "import.differs", .error, "A file's data isn't what was sent.", ["id": "the import's"])
    package static let zonesChanged = LogEvent(
        "zones.changed", .info, "A user's zone timeline changed.", ["entries": "how many"])
    package static let figuresOutdated = LogEvent(
        "figures.outdated", .notice, "The handler or its configuration changed: every day is computed again.",
        ["handler": "its plugin"])
    package static let conditionsReconciled = LogEvent(
        "conditions.reconciled", .notice,
        "A handler didn't watch what it should: all its days are computed again.",
        ["count": "how many", "again": "registered again", "gone": "no longer watched"])
    package static let conditionsWatched = LogEvent(
        "conditions.watched", .info, "A handler starts with this many conditions, such as places.",
        ["count": "how many"])
    package static let figureCollides = LogEvent(
        "figure.collides", .warning, "A figure is in no summary, because its name is taken.",
        ["figure": "its name", "handler": "whose it is", "taken": "who has the name"])
    package static let dayFailed = LogEvent(
        "day.failed", .error, "A day couldn't be computed; its figures stay as they were.",
        ["handler": "its plugin", "day": "its date", "why": "the reason, and what to do", "attempt": "how many"])
    package static let alertRaised = LogEvent(
        "alert.raised", .notice, "A person should know about something.",
        ["kind": "the alert's", "subject": "what it is about"])
    package static let alertCleared = LogEvent(
        "alert.cleared", .notice, "An alert no longer applies.",
        ["kind": "the alert's", "subject": "what it is about"])
}

// Delivery.
extension LogEvent {
    package static let uploadRetry = LogEvent(
        "upload.retry", .notice, "The destination couldn't accept a request; it will be sent again.",
        ["why": "the reason, and what to do", "seconds": "how long it took, or until the next try"])
    package static let uploadPaused = LogEvent(
        "upload.paused", .error, "Delivery waits for a person to act.", ["why": "the reason, and what to do"])
    package static let deadletterAdded = LogEvent(
        "deadletter.added", .error, "An element refused for good becomes a dead letter.",
        ["metric": "its family", "id": "its own", "why": "in the destination's words"])
    package static let proofBegun = LogEvent(
        "proof.begun", .debug, "What the destination keeps is compared, element by element, with what was delivered.")
    package static let proofEnded = LogEvent(
        "proof.ended", .info, "The comparison has ended.",
        [
            "rows": "how many were read", "wrong": "how many elements differ",
            "repairs": "whether they are delivered again",
        ])
    package static let deliveryConflict = LogEvent(
        "delivery.conflict", .error,
        "The destination has elements in the version sent to it, but with other content, which stays.",
        ["metric": "their family", "count": "how many", "id": "the first one's"])
    package static let backendChanged = LogEvent(
        "backend.changed", .notice, "Another database answers: everything is delivered again.")
    package static let backendMoved = LogEvent(
        "backend.moved", .notice, "The destination's address has changed: everything is delivered again.")
    package static let backendLacks = LogEvent(
        "backend.lacks", .error,
        "The destination lost what it had accepted: everything is delivered again.",
        ["missing": "at least how many, or some"])
    package static let refusalUnknown = LogEvent(
        "refusal.unknown", .error, "The destination refuses elements that were never sent.",
        ["count": "how many"])
    package static let pathChanged = LogEvent(
        "path.changed", .info, "The network path changed.",
        ["satisfied": "whether there is one", "interface": "wifi, cellular, wired, loopback, other or none"])
    package static let pathUnknown = LogEvent(
        "path.unknown", .notice, "The system doesn't say whether there is a network path.",
        ["why": "the reason, and what to do"])
    package static let notifyFailed = LogEvent(
        "notify.failed", .notice, "An alert couldn't be passed to a program or webhook.",
        ["why": "the reason, and what to do", "attempt": "how many"])
    package static let notifyGivenUp = LogEvent(
        "notify.given-up", .error, "An alert couldn't be passed on, and isn't tried again.", ["kind": "the alert's"])
}

// Processes, and the messages they send each other.
extension LogEvent {
    package static let instanceStarted = LogEvent(
        "instance.started", .info, "A process has its lock and starts.", ["pid": "its process id"])
    package static let instanceStopped = LogEvent("instance.stopped", .info, "A process ended as it should.")
    package static let instanceStandby = LogEvent(
        "instance.standby", .info, "A process waits for the running one to end.")
    package static let hubListening = LogEvent("hub.listening", .info, "The hub accepts connections.")
    package static let ingestFileLost = LogEvent(
        "ingest.file-lost", .error, "A file being sent can't be stored.", ["why": "the reason, and what to do"])
    package static let ingestFollowed = LogEvent(
        "ingest.followed", .debug, "Changes from the stack that this one follows were applied.",
        ["samples": "how many, deleted ones included"])
    package static let ingestFollowFailed = LogEvent(
        "ingest.follow-failed", .warning,
        "The stack that this one follows can't be asked, or its changes can't be applied.",
        ["why": "the reason, and what to do", "seconds": "how long it took, or until the next try"])
    package static let ingestFollowRecovered = LogEvent(
        "ingest.follow-recovered", .notice, "The stack that this one follows can be followed again.",
        ["seconds": "how long it took, or until the next try"])
    package static let followRefused = LogEvent(
        "observer.follow-refused", .notice,
        "Some samples of the stack that this one follows don't count here: deleted here for good, or in quarantine.",
        ["samples": "how many of a page", "quarantined": "how many of them are new in quarantine"])
    package static let ingestFollowsAgain = LogEvent(
        "ingest.follows-anew", .notice,
        "The stack that this one follows has another history: all of it is read again; nothing is removed here.")
    package static let ingestListening = LogEvent(
        "ingest.listening", .info, "The ingest accepts requests.", ["port": "where it listens"])
    package static let ingestCertificate = LogEvent(
        "ingest.certificate", .error, "A renewed certificate can't be used; the previous one stays.",
        ["why": "the reason, and what to do"])
    package static let ingestMoved = LogEvent(
        "ingest.moved", .warning,
        "The usual port is taken: the next free one is used.",
        ["wanted": "the usual port", "port": "where it listens"])
    package static let ingestPhoneRefused = LogEvent(
        "ingest.phone-refused", .warning,
        "A request isn't from a paired phone: its signature, code or refresh token isn't valid; its answer doesn't say why.",
        ["why": "the reason, which has no secret in it"])
    package static let ingestTokensUnreadable = LogEvent(
        "ingest.tokens", .error, "The list of tokens can't be read or changed: nobody is let in.",
        ["why": "the reason, and what to do"])
    package static let ingestTokenUse = LogEvent(
        "ingest.token-use", .warning, "When tokens were last used can't be stored; it is tried again.",
        ["why": "the reason, and what to do"])
    package static let dashboardListening = LogEvent(
        "dashboard.listening", .info, "The dashboard shows its page.", ["port": "where it listens"])
    package static let dashboardMoved = LogEvent(
        "dashboard.moved", .warning,
        "The usual port is taken: the next free one is used.",
        ["wanted": "the usual port", "port": "where it listens"])
    package static let dashboardFailed = LogEvent(
        "dashboard.failed", .error, "The dashboard couldn't answer a request or read its data.",
        ["what": "path or part", "why": "the reason, and what to do"])
    package static let backendListening = LogEvent(
        "backend.listening", .info, "The reference backend accepts connections.", ["port": "where it listens"])
    package static let backendFailed = LogEvent(
        "backend.failed", .error, "The reference backend couldn't answer a request.",
        ["why": "the reason, and what to do"])
    package static let backendRolledBack = LogEvent(
        "backend.rolledback", .notice,
        "The reference backend's database is an older copy: everything is delivered again.",
        ["seen": "by the caller", "held": "by the database"])
    package static let backendRowsMissing = LogEvent(
        "backend.rowsmissing", .error,
        "Rows of the reference backend's database were removed: everything is delivered again.",
        ["missing": "at least how many"])
    package static let busFailed = LogEvent(
        "bus.failed", .error, "A process lost its connection to the bus.", ["why": "the reason, and what to do"])
    package static let busRefused = LogEvent(
        "bus.refused", .notice, failing: .error,
        "A process wasn't admitted: logged by the hub and, as an error, by that process.",
        [
            "who": "an identity or an address", "why": "the reason, and what to do",
            "untold": "how many weren't logged",
        ])
    package static let busDenied = LogEvent(
        "bus.denied", .notice, "A process has no right to what it sent or asked for.",
        ["who": "an identity or an address", "why": "which right", "untold": "how many weren't logged"])
    package static let busUnreadable = LogEvent(
        "bus.unreadable", .notice, "The hub's keys or list can't be read; the previous ones stay in force.",
        ["who": "which file", "why": "the reason, and what to do", "untold": "how many weren't logged"])
    package static let busReopened = LogEvent(
        "bus.reopened", .notice, "A key is no longer valid: everyone reconnects.",
        ["who": "whose key", "why": "the reason, and what to do", "untold": "how many weren't logged"])
    package static let repairBegun = LogEvent(
        "mend.begun", .notice, "A stage began a person's request.",
        ["action": "such as replay"])
    package static let repairEnded = LogEvent(
        "mend.ended", .notice, "A stage carried out a person's request, or couldn't.",
        ["action": "such as replay"])
    package static let messageForeign = LogEvent(
        "message.foreign", .error, "A message was dropped: its sender has no right to it.",
        [
            "from": "who", "topic": "its first part",
            "untold": "how many weren't logged",
        ])
    package static let pullRefused = LogEvent(
        "pull.refused", .error, "A producer refuses a request, or its answer can't be read; it is asked again later.",
        ["upstream": "whose it is", "why": "the reason, and what to do"])
    package static let messageMalformed = LogEvent(
        "message.malformed", .error, "Something on the bus isn't a message.", ["why": "the reason, and what to do"])
    package static let anchorReset = LogEvent(
        "anchor.reset", .notice, "An upstream started over: all of it is consumed again.",
        ["upstream": "whose it is", "generation": "the new one"])
    package static let versionsRenewed = LogEvent(
        "versions.renewed", .notice,
        "A destination held newer versions than this store gave out: rows get versions above them.",
        ["windows": "how many parts of the changelog"])
    package static let anchorRefused = LogEvent(
        "anchor.refused", .notice, "A consumer's anchor isn't known to this store.",
        ["consumer": "its instance", "verdict": "why not"])
    package static let execStarted = LogEvent(
        "exec.started", .info, "A handler's program in another language runs.",
        ["pid": "its process id", "version": "its own"])
    package static let execSaid = LogEvent(
        "exec.said", .notice, "A handler's program wrote to its standard error.",
        ["line": "its words"])
    package static let execFailed = LogEvent(
        "exec.failed", .error, "A handler's program can't be started.",
        ["why": "the reason, and what to do", "attempt": "how many"])
    package static let execDropped = LogEvent(
        "exec.dropped", .error, "A handler's program was ended and is restarted.",
        ["why": "the reason, and what to do"])
}

// What the supervisor does.
extension LogEvent {
    package static let processStarted = LogEvent(
        "process.started", .info, "A process was started.", ["instance": "whose it is", "pid": "its process id"])
    package static let processReady = LogEvent(
        "process.ready", .info, "A process is ready.", ["instance": "whose it is"])
    package static let processLate = LogEvent(
        "process.late", .warning, "A process wasn't ready in time; others start without it.",
        ["instance": "whose it is", "seconds": "how long it took, or until the next try"])
    package static let processUnstartable = LogEvent(
        "process.unstartable", .error, "A process couldn't be started.",
        ["instance": "whose it is", "why": "the reason, and what to do"])
    package static let processEnded = LogEvent(
        "process.ended", .error, "A process ended on its own.",
        ["instance": "whose it is", "status": "how", "failures": "in a row"])
    package static let processRestarting = LogEvent(
        "process.restarting", .notice, "A process will be restarted.",
        ["instance": "whose it is", "seconds": "how long it took, or until the next try"])
    package static let processGivenUp = LogEvent(
        "process.given-up", .error, "A process won't be restarted.",
        ["instance": "whose it is", "failures": "in a row"])
    package static let processStopped = LogEvent(
        "process.stopped", .info, "A process ended because it was asked to.",
        ["instance": "whose it is", "status": "how"])
    package static let processReplaced = LogEvent(
        "process.replaced", .notice, "Another process took an instance's place.",
        ["instance": "whose it is", "pid": "its process id", "seconds": "how long it took, or until the next try"])
    package static let processKilled = LogEvent(
        "process.killed", .warning, "A process didn't stop in time.", ["instance": "whose it is"])
    package static let standbyEnded = LogEvent(
        "standby.ended", .info, failing: .warning,
        "A process that was to take another's place ended, dismissed or before it could.",
        ["instance": "whose place", "why": "the reason, and what to do"])
    package static let stackStopping = LogEvent("stack.stopping", .info, "The stack was asked to stop.")
    package static let stackStopped = LogEvent("stack.stopped", .info, "Every process ended.")
}
