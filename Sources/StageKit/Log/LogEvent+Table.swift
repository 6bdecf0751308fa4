import Logging

// Every event that any process logs. docs/log-events.md is held against this table.
extension LogEvent {
    package static let all: [LogEvent] = [
        alertCleared, alertRaised, anchorRefused, anchorReset, appBackground, authorizationAsked, backendChanged,
        backendFailed, backendLacks, backendListening, backendRolledBack, backendRowsMissing, busDenied, busFailed,
        busRefused, busReopened,
        busUnreadable, dashboardFailed, dashboardListening, dashboardMoved, dayFailed,
        deadletterAdded, debounceFinished, deliveryStopped,
        deviceChanged, deviceRefused, execDropped, execFailed, execSaid, execStarted, figureCollides, figuresOutdated,
        historyCompleted, historyStarted, hubListening, importDiffers, importEnded, importReceiving, importSenderGone,
        importStarted, inboxFound, inboxStuck, inboxTrouble, inboxWatched, ingestCertificate, ingestFileLost,
        ingestListening, ingestMoved, ingestTokensUnreadable, instanceStandby,
        instanceStarted,
        instanceStopped, mendBegun, mendEnded, messageForeign, messageMalformed, notifyFailed, notifyGivenUp,
        observerAcknowledged,
        observerFired,
        observerUnheard, page, pageInaccessible, pathChanged, pathUnknown, pendingAdded, pullRefused, processEnded,
        processGivenUp,
        processKilled, processLate, processReady, processReplaced, processRestarting, processStarted, processStopped,
        processUnstartable, refusalUnknown, registrationRefused,
        registrationRenewed, stackStopped, stackStopping, standbyEnded, syncMetric, syncSummary, taskCancelled,
        taskCompleted, taskExpired, taskRefused,
        taskScheduled, taskStarted, taskWaits, uploadPaused, uploadRetry, zonesChanged,
    ]
}

// What HealthKit's side and the app's do when samples change.
extension LogEvent {
    package static let observerFired = LogEvent(
        "observer.fired", .debug,
        "An observer query fired: the observer says that a type has changed, and the debouncer hears it.",
        ["type": "HealthKit's identifier", "locked": "whether the device is"])
    package static let observerUnheard = LogEvent(
        "observer.unheard", .notice, "A type changed in the background, and nobody is registered for it.",
        ["type": "HealthKit's identifier"])
    package static let observerAcknowledged = LogEvent(
        "observer.acknowledged", .debug, "A consumer called the completion handlers of what it was told.",
        ["consumer": "its instance", "types": "how many"])
    package static let page = LogEvent(
        "page", .debug, "An answer to an anchored query has come.",
        ["upstream": "whose", "added": "samples or rows", "deleted": "samples or rows", "through": "the new anchor"])
    package static let pageInaccessible = LogEvent(
        "page.inaccessible", .info, "The device is locked: nothing can be read, and no anchor moves.",
        ["upstream": "whose data"])
    package static let pendingAdded = LogEvent(
        "pending.added", .info, "A type waits in the pending set until the app has time.",
        ["type": "HealthKit's identifier"])
    package static let debounceFinished = LogEvent(
        "debounce.finished", .debug, "Windows have closed: their types are released, or wait for a task.",
        ["types": "how many"])
    package static let registrationRenewed = LogEvent(
        "registration.renewed", .info, "A consumer has registered for background delivery.",
        ["consumer": "its instance", "launch": "the number of its start"])
    package static let registrationRefused = LogEvent(
        "registration.refused", .error, "A consumer may not be woken in the background.",
        ["consumer": "its instance", "why": "and what to do"])
    package static let authorizationAsked = LogEvent(
        "authorization.asked", .notice, "A consumer asks again for a type whose reading was denied.",
        ["consumer": "its instance", "type": "HealthKit's identifier"])
    package static let deliveryStopped = LogEvent(
        "delivery.stopped", .error, "A consumer didn't acknowledge too often and isn't woken any more.",
        ["consumer": "its instance"])
    package static let deviceChanged = LogEvent(
        "device.changed", .info, "The device is another than before.",
        ["app": "its state", "locked": "whether the device is", "deferring": "whether it gives no background time"])
    package static let deviceRefused = LogEvent(
        "device.refused", .error, "A command about the device can't be carried out.", ["why": "what is wrong"])
    package static let appBackground = LogEvent(
        "app.background", .info, "The app has left the screen.", ["pending": "types that wait"])
}

// Tasks and syncs.
extension LogEvent {
    package static let taskScheduled = LogEvent(
        "task.scheduled", .info, "A task has been submitted.",
        ["task": "its identifier", "earliest": "ISO 8601 in UTC, or now"])
    package static let taskStarted = LogEvent(
        "task.started", .info, "A task has been launched.", ["task": "its identifier"])
    package static let taskCompleted = LogEvent(
        "task.completed", .info, "A task has ended.",
        ["task": "its identifier", "outcome": "succeeded, failed or cancelled", "seconds": "it took"])
    package static let taskExpired = LogEvent(
        "task.expired", .info, "A task's time was over before it had ended.",
        ["task": "its identifier", "outcome": "expired or overran", "seconds": "it took"])
    package static let taskWaits = LogEvent(
        "task.waits", .notice, "A task was to be launched, and can't begin yet.",
        ["task": "its identifier", "for": "what it waits for"])
    package static let taskCancelled = LogEvent(
        "task.cancelled", .info, "A pending task was taken back.", ["task": "its identifier"])
    package static let taskRefused = LogEvent(
        "task.refused", .error, "A command about a task can't be carried out.", ["why": "and what to do"])
    package static let syncMetric = LogEvent(
        "sync.metric", .debug, failing: .notice, "A consumer's part in a sync.",
        [
            "consumer": "its instance", "outcome": "starting, completed or failed", "seconds": "it took",
            "why": "it failed",
        ])
    package static let syncSummary = LogEvent(
        "sync.summary", .debug, failing: .notice, "A sync has ended.",
        [
            "reason": "what it was for", "completed": "consumers", "failed": "consumers", "seconds": "it took",
        ])
    package static let historyStarted = LogEvent(
        "history.started", .info, "Past days are delivered once more.",
        ["chunks": "how many", "from": "the first day"])
    package static let historyCompleted = LogEvent(
        "history.completed", .info, "Past days have been delivered once more.", ["chunks": "how many"])
}

// Imports, days, alerts.
extension LogEvent {
    package static let importStarted = LogEvent(
        "import.started", .info, "The observer begins to read a file.", ["id": "the import's"])
    package static let importEnded = LogEvent(
        "import.ended", .info, "A file has been read to its end, or can't be.",
        ["id": "the import's", "state": "what became of it"])
    package static let importReceiving = LogEvent(
        "import.receiving", .info, "The observer asks a command for the pieces of a file that it can't open itself.",
        ["id": "the import's"])
    package static let importSenderGone = LogEvent(
        "import.sender-gone", .notice, "The command that sends a file is heard no more; what has come of it is kept.",
        ["id": "the import's"])
    package static let inboxFound = LogEvent(
        "inbox.found", .info, "A whole file lies in the inbox folder.", ["id": "its import's"])
    package static let inboxStuck = LogEvent(
        "inbox.stuck", .error, "A file can't be moved out of the inbox folder; it is tried again every minute.",
        ["id": "its import's", "why": "what the system says"])
    package static let inboxTrouble = LogEvent(
        "inbox.trouble", .error, "Files can't be taken out of the inbox folder; it is looked at again and again.",
        ["why": "what is wrong, and what to do"])
    package static let inboxWatched = LogEvent(
        "inbox.watched", .info, "Files are taken out of the inbox folder from now on.")
    package static let importDiffers = LogEvent(
        "import.differs", .error, "What has come of a file isn't what was sent.", ["id": "the import's"])
    package static let zonesChanged = LogEvent(
        "zones.changed", .info, "Somebody's timeline of zones has changed.", ["entries": "it has now"])
    package static let figuresOutdated = LogEvent(
        "figures.outdated", .notice, "The handler or its configuration is another one: every day is computed anew.",
        ["handler": "its plugin"])
    package static let figureCollides = LogEvent(
        "figure.collides", .warning, "A figure has a name that is taken already, and is in no summary.",
        ["figure": "its name", "handler": "whose it is", "taken": "whose the name is"])
    package static let dayFailed = LogEvent(
        "day.failed", .error, "A day couldn't be computed; its figures stay as they were.",
        ["handler": "its plugin", "day": "its date", "why": "what went wrong", "attempt": "how many"])
    package static let alertRaised = LogEvent(
        "alert.raised", .notice, "There is something that a person should know of.",
        ["kind": "the alert's", "subject": "what it is about"])
    package static let alertCleared = LogEvent(
        "alert.cleared", .notice, "An alert holds no longer.",
        ["kind": "the alert's", "subject": "what it was about"])
}

// Delivery.
extension LogEvent {
    package static let uploadRetry = LogEvent(
        "upload.retry", .notice, "The backend couldn't take a request; it is sent again.",
        ["why": "what it or the network said", "seconds": "until then"])
    package static let uploadPaused = LogEvent(
        "upload.paused", .error, "Delivery waits for a person.", ["why": "and what to do"])
    package static let deadletterAdded = LogEvent(
        "deadletter.added", .error, "The backend refuses an element for good; it is kept aside.",
        ["metric": "its family", "id": "its own", "why": "as the backend said it"])
    package static let backendChanged = LogEvent(
        "backend.changed", .notice, "Another backend answers than before: everything is delivered once more.")
    package static let backendLacks = LogEvent(
        "backend.lacks", .error, "The backend lacks what it had taken: everything is delivered to it once more.",
        ["missing": "how many elements at least, or some"])
    package static let refusalUnknown = LogEvent(
        "refusal.unknown", .error, "The backend names elements as refused that were never sent; that is passed over.",
        ["count": "how many"])
    package static let pathChanged = LogEvent(
        "path.changed", .info, "The network path is another one.",
        ["satisfied": "whether there is one", "interface": "wifi, cellular, wired, loopback, other or none"])
    package static let pathUnknown = LogEvent(
        "path.unknown", .notice, "The system doesn't tell whether there is a network path.", ["why": "it doesn't"])
    package static let notifyFailed = LogEvent(
        "notify.failed", .notice, "A program or a webhook couldn't be told of an alert.",
        ["why": "what went wrong", "attempt": "how many"])
    package static let notifyGivenUp = LogEvent(
        "notify.given-up", .error, "Nobody could be told of an alert.", ["kind": "the alert's"])
}

// Processes and what they say to each other.
extension LogEvent {
    package static let instanceStarted = LogEvent(
        "instance.started", .info, "A process has its lock and begins.", ["pid": "its process id"])
    package static let instanceStopped = LogEvent("instance.stopped", .info, "A process has ended as it should.")
    package static let instanceStandby = LogEvent(
        "instance.standby", .info, "A process waits until the running one has ended.")
    package static let hubListening = LogEvent("hub.listening", .info, "The hub takes connections.")
    package static let ingestFileLost = LogEvent(
        "ingest.file-lost", .error, "A file that is sent can't be kept on the disk.", ["why": "what went wrong"])
    package static let ingestListening = LogEvent(
        "ingest.listening", .info, "The ingest takes requests of phones and programs.", ["port": "where"])
    package static let ingestCertificate = LogEvent(
        "ingest.certificate", .error, "A renewed certificate can't be used; the one before stays in use.",
        ["why": "what is wrong with it"])
    package static let ingestMoved = LogEvent(
        "ingest.moved", .warning,
        "The ingest's usual port is taken by another program, so that it listens on the next free one.",
        ["wanted": "the usual port", "port": "where it listens"])
    package static let ingestTokensUnreadable = LogEvent(
        "ingest.tokens", .error, "The list of tokens can't be read, so that nobody is let in.",
        ["why": "what is wrong with it"])
    package static let dashboardListening = LogEvent(
        "dashboard.listening", .info, "The dashboard shows its page.", ["port": "where"])
    package static let dashboardMoved = LogEvent(
        "dashboard.moved", .warning,
        "The dashboard's usual port is taken by another program, so that it listens on the next free one.",
        ["wanted": "the usual port", "port": "where it listens"])
    package static let dashboardFailed = LogEvent(
        "dashboard.failed", .error, "The dashboard couldn't answer a request or read what it shows.",
        ["what": "the path or the part", "why": "what went wrong"])
    package static let backendListening = LogEvent(
        "backend.listening", .info, "The reference backend takes connections.", ["port": "where"])
    package static let backendFailed = LogEvent(
        "backend.failed", .error, "The reference backend couldn't answer a request.", ["why": "what went wrong"])
    package static let backendRolledBack = LogEvent(
        "backend.rolledback", .notice,
        "A caller has seen more of the reference backend's database than it holds, as when an older copy was put back: it begins a new generation, so that all is delivered again.",
        ["seen": "the caller's sequence", "held": "the database's"])
    package static let backendRowsMissing = LogEvent(
        "backend.rowsmissing", .error,
        "Rows were removed from the reference backend's database behind its back: it begins a new generation, so that all is delivered again.",
        ["missing": "how many at least"])
    package static let busFailed = LogEvent(
        "bus.failed", .error, "A process has lost its place on the bus.", ["why": "what went wrong"])
    package static let busRefused = LogEvent(
        "bus.refused", .notice, failing: .error,
        "Somebody wasn't let in: as the hub says it, or, an error, as that one does.",
        ["who": "an identity or an address", "why": "and what to do", "untold": "how many like it went untold before"])
    package static let busDenied = LogEvent(
        "bus.denied", .notice, "Somebody said or asked for what its key gives no right to.",
        ["who": "an identity or an address", "why": "which right", "untold": "how many like it went untold before"])
    package static let busUnreadable = LogEvent(
        "bus.unreadable", .notice, "The hub's keys or its list can't be read; what held goes on.",
        ["who": "which file", "why": "and what to do", "untold": "how many like it went untold before"])
    package static let busReopened = LogEvent(
        "bus.reopened", .notice, "All connect anew: a key that some came in by no longer holds.",
        ["who": "whose key", "why": "it doesn't", "untold": "how many like it went untold before"])
    package static let mendBegun = LogEvent(
        "mend.begun", .notice, "A person has asked a stage to mend something.",
        ["action": "replay, reset, retry, drop or backup"])
    package static let mendEnded = LogEvent(
        "mend.ended", .notice, "What a person asked a stage to mend is done, or can't be.",
        ["action": "as at its begin"])
    package static let messageForeign = LogEvent(
        "message.foreign", .error, "Somebody said what isn't for him to say: it was dropped.",
        ["from": "who", "topic": "its first part", "untold": "how many of his weren't logged since the last one"])
    package static let pullRefused = LogEvent(
        "pull.refused", .error, "A producer refuses a request, or answers what can't be read; it is asked again later.",
        ["upstream": "whose", "why": "what it says, or what is wrong with the answer"])
    package static let messageMalformed = LogEvent(
        "message.malformed", .error, "What came on the bus isn't a message.", ["why": "what is wrong with it"])
    package static let anchorReset = LogEvent(
        "anchor.reset", .notice, "An upstream has begun anew: everything of it is consumed again.",
        ["upstream": "whose", "generation": "its new one"])
    package static let anchorRefused = LogEvent(
        "anchor.refused", .notice, "A consumer came with an anchor that this store doesn't know.",
        ["consumer": "its instance", "verdict": "why not"])
    package static let execStarted = LogEvent(
        "exec.started", .info, "A handler in another language runs.",
        ["pid": "its process id", "version": "it says it has"])
    package static let execSaid = LogEvent(
        "exec.said", .notice, "A handler in another language wrote to its standard error.",
        ["line": "as it wrote it"])
    package static let execFailed = LogEvent(
        "exec.failed", .error, "A handler in another language can't be started.",
        ["why": "what went wrong", "attempt": "how many"])
    package static let execDropped = LogEvent(
        "exec.dropped", .error, "A handler in another language was ended, and is started again.",
        ["why": "what it did"])
}

// What the supervisor does.
extension LogEvent {
    package static let processStarted = LogEvent(
        "process.started", .info, "A process was started.", ["instance": "whose", "pid": "its process id"])
    package static let processReady = LogEvent("process.ready", .info, "A process is ready.", ["instance": "whose"])
    package static let processLate = LogEvent(
        "process.late", .warning, "A process isn't ready in time; the others start without it.",
        ["instance": "whose", "seconds": "waited"])
    package static let processUnstartable = LogEvent(
        "process.unstartable", .error, "A process couldn't be started.", ["instance": "whose", "why": "and what to do"])
    package static let processEnded = LogEvent(
        "process.ended", .error, "A process ended by itself.",
        ["instance": "whose", "status": "how", "failures": "in a row"])
    package static let processRestarting = LogEvent(
        "process.restarting", .notice, "A process is started again after a while.",
        ["instance": "whose", "seconds": "until then"])
    package static let processGivenUp = LogEvent(
        "process.given-up", .error, "A process isn't started again.", ["instance": "whose", "failures": "in a row"])
    package static let processStopped = LogEvent(
        "process.stopped", .info, "A process ended because it was told to.", ["instance": "whose", "status": "how"])
    package static let processReplaced = LogEvent(
        "process.replaced", .notice, "Another process has taken an instance's place.",
        ["instance": "whose", "pid": "the new one's process id", "seconds": "it took"])
    package static let processKilled = LogEvent(
        "process.killed", .warning, "A process didn't stop in time and was killed.", ["instance": "whose"])
    package static let standbyEnded = LogEvent(
        "standby.ended", .warning, "A process that was to take another's place ended before.",
        ["instance": "whose place", "why": "it ended"])
    package static let stackStopping = LogEvent("stack.stopping", .info, "The stack is told to stop.")
    package static let stackStopped = LogEvent("stack.stopped", .info, "Every process has ended.")
}
