import HealthModel
import MessageBus

/// A metric at the monitoring endpoint: declared once, with its kind, its labels and its meaning.
package struct MetricFamily: Sendable, Equatable {
    package enum Kind: String, Sendable { case gauge, counter, histogram }

    /// Following Prometheus's conventions: base units, `_total` for counters.
    package let name: String
    package let kind: Kind
    package let labels: [String]
    /// One sentence.
    package let help: String

    init(_ name: String, _ kind: Kind, _ labels: [String], _ help: String) {
        self.name = "healthbus_" + name
        (self.kind, self.labels, self.help) = (kind, labels, help)
    }
}

// Every metric. Labels name instances, plugins and metric families; never users, devices or sources.
extension MetricFamily {
    package static let all: [MetricFamily] = [
        buildInfo, up, ready, heartbeatAge, restarts, epoch, memory, busy, lastCommit, turns, turnCount, processor,
        started, head,
        consumed, lag, sent, received, dropped, malformed, foreign, forwarded, pendingDays, failedDays, pendingTypes,
        openDays,
        missing, importOpen, quarantined, lastSample, lastSync, lastCheck, delivered, deadLetters, conflicts, paused,
        blocked,
        networkPath, lastDelivery, deliveryDelay, notified, notificationsFailed,
        requestsTaken, requestsRefused, lastTaken,
    ]

    package static let buildInfo = MetricFamily(
        "build_info", .gauge, ["version", "protocol"],
        "1; the labels say which release this is, and which protocol it speaks.")

    // Processes.
    package static let up = MetricFamily(
        "instance_up", .gauge, ["instance", "plugin"],
        "1 if the instance was heard in the last \(Repetition.silence.components.seconds) seconds.")
    package static let ready = MetricFamily(
        "instance_ready", .gauge, ["instance", "plugin"], "1 if it is heard and says it is ready.")
    package static let heartbeatAge = MetricFamily(
        "instance_heartbeat_age_seconds", .gauge, ["instance"], "Time since its last heartbeat.")
    package static let restarts = MetricFamily(
        "instance_restarts_total", .counter, ["instance"],
        "How often the supervisor has restarted it; only where `healthbus up` runs.")
    package static let epoch = MetricFamily(
        "instance_epoch", .gauge, ["instance"], "Rises with each process that opens the instance's file.")
    package static let memory = MetricFamily(
        "instance_resident_memory_bytes", .gauge, ["instance"], "Resident memory of its process.")
    package static let busy = MetricFamily(
        "instance_busy_seconds", .gauge, ["instance"], "How long its present turn has taken so far; 0 when idle.")
    package static let lastCommit = MetricFamily(
        "instance_last_commit_timestamp_seconds", .gauge, ["instance"],
        "When it last committed; absent before the first commit of its process.")
    package static let turns = MetricFamily(
        "instance_turn_seconds_total", .counter, ["instance"], "Time spent in turns since its process began.")
    package static let turnCount = MetricFamily(
        "instance_turns_total", .counter, ["instance"], "Turns since its process began.")
    package static let processor = MetricFamily(
        "instance_cpu_seconds_total", .counter, ["instance"], "Processor time of its process, in user and system mode.")
    package static let started = MetricFamily(
        "instance_start_time_seconds", .gauge, ["instance"], "When its process began.")

    // Anchors.
    package static let head = MetricFamily(
        "head_sequence", .gauge, ["instance"], "Newest sequence of the instance's own changelog.")
    package static let consumed = MetricFamily(
        "consumed_sequence", .gauge, ["instance", "upstream"],
        "How far an upstream is consumed, all outputs included.")
    package static let lag = MetricFamily(
        "lag_sequences", .gauge, ["instance", "upstream"], "How far the instance is behind its upstream's head.")

    // The bus.
    package static let sent = MetricFamily("messages_sent_total", .counter, ["instance"], "Messages sent.")
    package static let received = MetricFamily("messages_received_total", .counter, ["instance"], "Messages received.")
    package static let dropped = MetricFamily(
        "messages_dropped_total", .counter, ["instance"],
        "Messages that weren't sent for lack of room; they are repeated.")
    package static let malformed = MetricFamily(
        "messages_malformed_total", .counter, ["instance"], "Things that arrived on the bus and weren't messages.")
    package static let foreign = MetricFamily(
        "messages_foreign_total", .counter, ["instance"],
        "Messages dropped because their sender had no right to send them.")
    package static let forwarded = MetricFamily(
        "messages_forwarded_total", .counter, ["instance"], "Messages the hub has passed on.")

    // Work.
    package static let pendingDays = MetricFamily(
        "pending_days", .gauge, ["instance"], "Days a handler still has to compute.")
    package static let failedDays = MetricFamily("failed_days", .gauge, ["instance"], "Days that couldn't be computed.")
    package static let pendingTypes = MetricFamily(
        "pending_types", .gauge, ["instance"], "Types whose window is open, or that wait for background time.")
    package static let openDays = MetricFamily(
        "open_days", .gauge, ["instance"], "Days that are over but not final yet.")
    package static let missing = MetricFamily(
        "missing_handlers", .gauge, ["instance"], "Handlers that days have been waiting for, for more than 15 seconds.")
    package static let importOpen = MetricFamily(
        "import_open", .gauge, ["instance"],
        "1 while a file is being imported, or a stack that is followed hasn't been copied to its end.")
    package static let quarantined = MetricFamily(
        "quarantined_samples", .gauge, ["instance"], "Quarantined samples and inputs, which don't count.")
    package static let lastSample = MetricFamily(
        "last_sample_timestamp_seconds", .gauge, ["instance"],
        "End of the newest sample of the handler's types, of any user.")
    package static let lastSync = MetricFamily(
        "last_sync_timestamp_seconds", .gauge, ["instance"], "When samples of its types last arrived.")
    package static let lastCheck = MetricFamily(
        "last_check_timestamp_seconds", .gauge, ["instance"], "When they were last looked for.")

    // Delivery.
    package static let delivered = MetricFamily(
        "delivered_elements_total", .counter, ["instance", "metric"],
        "Elements the destination has accepted since the state was made.")
    package static let deadLetters = MetricFamily(
        "dead_letters", .gauge, ["instance"], "Elements the destination refused for good.")
    package static let conflicts = MetricFamily(
        "delivery_conflicts", .gauge, ["instance"],
        "Elements the destination has in the version sent to it, but with other content.")
    package static let paused = MetricFamily(
        "delivery_paused", .gauge, ["instance"], "1 while delivery waits for something only a person can fix.")
    package static let blocked = MetricFamily(
        "delivery_blocked", .gauge, ["instance"], "1 while something blocks delivery.")
    package static let networkPath = MetricFamily(
        "network_path_satisfied", .gauge, ["instance"], "1 if there is a network path to the destination.")
    package static let lastDelivery = MetricFamily(
        "last_delivery_timestamp_seconds", .gauge, ["instance", "metric"],
        "When the destination last accepted an element.")
    package static let deliveryDelay = MetricFamily(
        "delivery_delay_seconds", .histogram, ["instance", "metric"],
        "Time from a sample's end to the destination, for samples of the last 48 hours, since its process began.")
    package static let notified = MetricFamily(
        "notifications_total", .counter, ["instance"], "Alerts sent to a program or a webhook.")
    package static let notificationsFailed = MetricFamily(
        "notifications_failed_total", .counter, ["instance"], "Alerts that couldn't be sent.")
}

extension MetricFamily {
    /// A table for a page of the documentation.
    package static var documentation: String {
        let rows = all.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(family.name)` | \(family.kind.rawValue) | \(labels) | \(family.help) |\n"
        }
        return "| metric | kind | labels | what it says |\n| --- | --- | --- | --- |\n" + rows.joined()
    }

    // Data pushed by phones and programs.
    package static let requestsTaken = MetricFamily(
        "ingest_requests_taken_total", .counter, ["instance"],
        "Requests that are stored completely, since its process began.")
    package static let requestsRefused = MetricFamily(
        "ingest_requests_refused_total", .counter, ["instance"],
        "Requests that were turned down or couldn't be taken, since its process began.")
    package static let lastTaken = MetricFamily(
        "ingest_last_taken_timestamp_seconds", .gauge, ["instance"],
        "When it last took a request; absent before the first.")
}
