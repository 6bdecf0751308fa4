import Changelog
import Configuration
import Foundation
import HealthModel
import Logging
import MessageBus
import Protocol
import SQLite

/// Reads what a stack holds, whether it is running or not. A running instance is asked over the bus; a stopped
/// instance's file is read under its lock.
///
/// If an instance is running but doesn't answer, its file is read alongside it, as it would be to answer pulls:
/// whatever the instance has committed can be read, no matter how badly it hangs.
package final class StackReader {
    package let state: StateFolder
    package let stack: StackConfiguration
    private let address: @Sendable () throws -> BusAddress
    private lazy var client = Result { try shared ?? StackClient(address: try address()) }
    /// The connection through which everything is requested; nil if files may be read.
    private let shared: StackClient?
    /// How many seconds an instance whose folder is elsewhere may take to answer.
    private var patience = 10.0
    /// The instances whose presence this reader has checked.
    private var asked: Set<String> = []
    /// Makes the source for an instance's file, depending on its plugin kind. The file of a running instance is opened
    /// read-only.
    private let source: (StackConfiguration.Instance, Database) throws -> any PullSource
    /// Instances that are running but don't answer.
    package private(set) var silent: Set<String> = []
    private let foundSilent: (Silence) -> Void
    /// Whether no process at all has sent a heartbeat.
    private var isHubSilent = false

    /// An instance that is running but doesn't answer, and how long ago its file was written.
    package struct Silence: Sendable, Equatable {
        package var instance: String
        /// Seconds since its file was last written.
        package var age: Double
        /// Whether no heartbeat arrives at all: the fault then lies with the hub, not with the instance asked.
        package var isHub = false

        package init(instance: String, age: Double, isHub: Bool = false) {
            (self.instance, self.age, self.isHub) = (instance, age, isHub)
        }
    }

    /// - Parameters:
    ///   - address: the address of the bus, with the keys to use; evaluated only when needed.
    ///   - foundSilent: called once for each instance whose file is read alongside it.
    package init(
        state: StateFolder, stack: StackConfiguration, address: (@Sendable () throws -> BusAddress)? = nil,
        foundSilent: @escaping (Silence) -> Void = { _ in },
        source: @escaping (StackConfiguration.Instance, Database) throws -> any PullSource
    ) {
        (self.state, self.stack, self.source, self.foundSilent) = (state, stack, source, foundSilent)
        self.address = address ?? { try stack.address(in: state, as: KeyRole.cli) }
        shared = nil
    }

    /// Sends queries only over the bus, through a connection that others may use at the same time. It opens no file and
    /// takes no lock, so an instance that doesn't answer can't be read.
    /// - Parameter patience: how many seconds to wait for an answer.
    package init(state: StateFolder, stack: StackConfiguration, over client: StackClient, patience: Double = 10) {
        (self.patience, self.state, self.stack) = (patience, state, stack)
        shared = client
        source = { _, database in ChangelogSource(database: database) }
        foundSilent = { _ in }
        address = { try stack.address(in: state, as: KeyRole.cli) }
    }

    /// Whether an instance keeps its folder elsewhere: if a bus spans machines or containers, instances without a
    /// folder here are asked over the bus.
    private func isElsewhere(_ instance: String) -> Bool {
        shared != nil || stack.bus.isRemote && !FileManager.default.fileExists(atPath: state.instance(instance))
    }

    /// Whether an instance sends heartbeats; one that is silent when first asked counts as down for this reader.
    private func isHeard(_ instance: String) throws -> Bool {
        let client = try client.get()
        let isFirst = asked.isEmpty
        if asked.insert(instance).inserted, isFirst || !client.heartbeats.isEmpty {
            client.gather([instance], within: 2)
        }
        return client.heartbeats[instance].map { $0.beat.phase != .stopped } ?? false
    }

    package func isRunning(_ instance: String) throws -> Bool {
        if isElsewhere(instance) { return try isHeard(instance) }
        return InstanceLock.isHeld(folder: state.instance(instance))
    }

    /// The latest heartbeat of each instance heard within `seconds`, with its age.
    package func gather(_ instances: [String], within seconds: Double) throws -> [String: (
        beat: Heartbeat, age: Double
    )] {
        asked.formUnion(instances)
        return try client.get().gather(instances, within: seconds)
    }

    /// The heartbeats of all processes, after waiting the given number of seconds.
    package func lookAgain(after seconds: Double) throws -> [String: (beat: Heartbeat, age: Double)] {
        let client = try client.get()
        let end = Date(timeIntervalSinceNow: seconds)
        var asked = false
        while Date() < end {
            // They are requested near the end of that time, so that the answers are recent.
            if !asked, end.timeIntervalSinceNow < seconds / 3 {
                client.hello()
                asked = true
            }
            client.wait(until: min(end, Date(timeIntervalSinceNow: 0.05)))
        }
        return client.heartbeats
    }

    /// All pages of a query; empty when the instance has never run, or is running and doesn't know the anchor.
    /// - Throws: `StageError` for pages that can't be read.
    package func pages<Asked: Query>(
        _ instance: StackConfiguration.Instance, _ query: Asked, _ place: PullPlace = PullPlace()
    ) throws -> [Page<Asked.Answer>] {
        try Page.all(try bodies(instance, Question(query, place)), from: instance.name)
    }

    /// Keeps asking until the whole answer has been received.
    package func all<Asked: Query, Position>(
        _ instance: StackConfiguration.Instance, _ query: (Position?) -> Asked,
        next: KeyPath<Asked.Answer, Position?>, while goesOn: () -> Bool = { true },
        _ take: (Asked.Answer) throws -> Void
    ) throws {
        var position: Position?
        repeat {
            let pages = try pages(instance, query(position))
            for page in pages { try take(page.content) }
            position = pages.last?.content[keyPath: next]
        } while position != nil && goesOn()
    }

    private func bodies(_ instance: StackConfiguration.Instance, _ query: Question) throws -> [Value] {
        if isElsewhere(instance.name) { return try ask(instance.name, query) }
        let folder = state.instance(instance.name)
        guard FileManager.default.fileExists(atPath: state.database(instance.name)) else { return [] }
        if let lock = try InstanceLock.take(folder: folder) {
            defer { withExtendedLifetime(lock) {} }
            try StageDatabase.requireContent(at: state.database(instance.name))
            // Not opened read-only: a file whose last owner was killed has a log that must first be merged into it.
            return try read(instance, query, in: .kept(at: state.database(instance.name)))
        }
        if let pages = try heed(instance.name, query) { return pages }
        do {
            return try beside(instance.name) { try read(instance, query, in: $0) }
        } catch let error as SQLiteError where !error.isCorrupt {
            // The instance may be starting for the first time, and be about to create what was asked for.
            guard let pages = try client.get().bodies(instance.name, query, within: 10) else { throw error }
            return pages
        }
    }

    /// Reads the file of an instance that is running but doesn't answer, as of the instance's last commit.
    package func beside<Result>(_ instance: String, _ body: (Database) throws -> Result) throws -> Result {
        let path = state.database(instance)
        if silent.insert(instance).inserted { try report(silenceOf: instance, path) }
        return try body(Database(path: path, mode: .readOnly))
    }

    private func report(silenceOf instance: String, _ path: String) throws {
        let client = try client.get()
        if client.heartbeats.isEmpty, !isHubSilent { client.gather([instance], within: Self.firstWait) }
        guard client.heartbeats.isEmpty else {
            return foundSilent(Silence(instance: instance, age: Self.age(of: path)))
        }
        guard !isHubSilent else { return }
        isHubSilent = true
        foundSilent(Silence(instance: stack.only(.hub)?.name ?? "hub", age: Self.age(of: path), isHub: true))
    }

    /// Seconds since a database was last written to.
    private static func age(of path: String) -> Double {
        let written = [path, path + "-wal"].compactMap { file in
            try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        }
        return max(0, -(written.max() ?? Date()).timeIntervalSinceNow)
    }

    /// A running instance's answer; nil when it neither answers nor sends a heartbeat within 3 s, or sends heartbeats
    /// but doesn't answer within 10 s more. An instance that has failed to answer once isn't waited for again.
    private func heed(_ instance: String, _ query: Question) throws -> [Value]? {
        let client = try client.get()
        guard !silent.contains(instance) else { return nil }
        // If no heartbeat arrived at all, the hub hangs, and there is no point in waiting any longer.
        let isDeaf = !silent.isEmpty && client.heartbeats.isEmpty
        guard !isDeaf else { return nil }
        if let pages = try client.bodies(instance, query, within: Self.firstWait) { return pages }
        asked.insert(instance)
        guard let heard = client.gather([instance], within: Self.firstWait)[instance],
            heard.age < Repetition.silence.seconds, heard.beat.phase != .stopped
        else { return nil }
        return try client.bodies(instance, query, within: 10)
    }

    /// The number of seconds within which any idle instance answers, and nearly any busy one.
    private static let firstWait = 1.5

    /// Asks an instance whose folder is elsewhere.
    private func ask(_ instance: String, _ query: Question) throws -> [Value] {
        if let pages = try client.get().bodies(instance, query, within: patience) { return pages }
        throw Failure(
            "'\(instance)' isn't responding on \(stack.bus.endpoints?.subscribe ?? "the bus")",
            hint: "'healthbus doctor' says which processes answer; is the hub running?")
    }

    private func read(
        _ instance: StackConfiguration.Instance, _ query: Question, in database: Database
    ) throws -> [Value] {
        let source = try source(instance, database)
        return try database.readTransaction {
            var pages: [Value] = []
            let (head, _) = try StageDatabase.readHead(in: database)
            do {
                try source.answer(query, for: nil, head: head) { content, _ in pages.append(Value(content)) }
            } catch let refusal as PullRefusal {
                throw StageError.refused(producer: instance.name, why: refusal.reason)
            }
            return pages
        }
    }

    /// The rows of an instance's changelog that aren't tombstones.
    package func rows(_ instance: StackConfiguration.Instance, topic: String) throws -> [KeyedChangelog.Row] {
        var rows: [String: KeyedChangelog.Row] = [:]
        try forEachRow(instance, topic: topic) { rows[$0.key] = $0 }
        return rows.values.filter { $0.body != nil }.sorted { $0.key < $1.key }
    }

    /// Passes each row of an instance's changelog to `body`, tombstones included. Rows are read window by window,
    /// oldest change first. A key that changes in the meantime appears again.
    /// - Parameter days: only rows for these days, counted since 1970; nil for all rows.
    package func forEachRow(
        _ instance: StackConfiguration.Instance, topic: String, days: ClosedRange<Int>? = nil,
        _ body: (KeyedChangelog.Row) throws -> Void
    ) throws {
        var after = SequenceNumber.beginning
        var store: StoreHead?
        while true {
            // A running instance continues from an anchor only if it recognizes the anchor as its own.
            let pages = try pages(
                instance, .changes(topic: topic, days: days), PullPlace(of: store, after: after))
            if pages.isEmpty, store != nil {
                throw Failure("'\(instance.name)' started over while it was being read", hint: "try again")
            }
            store = pages.last?.head
            for page in pages { try page.rows.forEach(body) }
            guard let through = pages.last?.through, through > after else { break }
            after = through
        }
    }
}
