import Foundation
import HealthModel
import HealthPush
import IngestStage
import Protocol
import SQLite
import Simulation

/// What phones and people send, one thing after the other: the next begins when the one before is durable. Sending
/// everything once more changes nothing, and neither does the order in which requests of one input arrive.
struct PhoneScript {
    enum Input {
        /// Requests that are on their way at the same time.
        case requests([PhoneRequest])
        case export(SimulatedFile)
        case undo(export: String)
        case zone(String, from: Instant)
    }

    var inputs: [Input] = []

    init(_ data: SimulatedData, seed: UInt64, using random: inout SimulatedRandom) throws {
        var number: UInt64 = 0
        var seen: Set<Record> = []
        var waiting = (data.records["me"] ?? []).filter { seen.insert($0).inserted }.map { record in
            number += 1
            var record = record
            record.uuid = SampleID(high: seed << 32 | number, low: 0x8000_0000_0000_0000 | number)
            return record
        }
        let steps = waiting.filter { $0.type == SimulatedData.steps }
        // A phone that was offline sends its newest samples first.
        if Int.random(in: 0..<4, using: &random) == 0 { waiting.reverse() }
        var sent: [Record] = []
        var events = 0
        var exports = data.files
        var imported: [SimulatedFile] = []
        let renamed = Self.renamed(data.records["anna"] ?? [], condensing: Bool.random(using: &random))
        while !waiting.isEmpty || !exports.isEmpty {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2 where !waiting.isEmpty:
                let part = Array(waiting.prefix(Int.random(in: 10...80, using: &random)))
                waiting.removeFirst(part.count)
                inputs.append(.requests(try Self.requests(with: part, after: sent, using: &random)))
                sent += part
            case 3 where Bool.random(using: &random):
                if Bool.random(using: &random), !steps.isEmpty {
                    let hours = steps[Int.random(in: 0..<steps.count, using: &random)...].prefix(12)
                    let isOver = Bool.random(using: &random)
                    inputs.append(.requests([try .hours(of: Array(hours), areComplete: isOver)]))
                } else {
                    events += 1
                    inputs += try Self.event(events, using: &random)
                }
            case 4 where !sent.isEmpty:
                let old = (0..<Int.random(in: 1...3, using: &random))
                    .map { _ in sent[Int.random(in: 0..<sent.count, using: &random)] }
                let deletion = try PhoneRequest.samples([], deleted: old.compactMap(\.uuid))
                // An old request with what is deleted may come at the same time, or later.
                let again = try PhoneRequest.push(old, by: Self.way(using: &random))
                switch Int.random(in: 0..<4, using: &random) {
                case 0: inputs.append(.requests([deletion, again]))
                case 1: inputs += [.requests([deletion]), .requests([again])]
                default: inputs.append(.requests([deletion]))
                }
            case 5 where Bool.random(using: &random):
                // It was never sent, or is sent only later.
                let unknown = waiting.first?.uuid ?? SampleID(high: seed, low: 1)
                let uuid = Bool.random(using: &random) ? unknown : SampleID(high: seed, low: 2)
                inputs.append(.requests([try .samples([], deleted: [uuid], areLines: Bool.random(using: &random))]))
            case 6 where !sent.isEmpty:
                // A retry of an old request, late.
                inputs.append(.requests([try Self.retry(of: sent, using: &random)]))
            case 7 where !exports.isEmpty:
                let export = exports.removeFirst()
                imported.append(export)
                inputs.append(.export(export))
            case 8 where Int.random(in: 0..<4, using: &random) == 0:
                let moment = data.moments[Int.random(in: 0..<data.moments.count, using: &random)]
                let zones = ["America/New_York", "Asia/Tokyo", "Pacific/Apia", "Pacific/Honolulu", SimulatedData.zone]
                inputs.append(.zone(zones[Int.random(in: 0..<zones.count, using: &random)], from: moment))
            case 9 where Bool.random(using: &random):
                inputs.append(.requests([try .push([], by: Self.way(using: &random), hasOdd: true)]))
            default: break
            }
        }
        if Bool.random(using: &random) { inputs.append(.export(renamed)) }
        if Int.random(in: 0..<3, using: &random) == 0, let last = imported.last {
            inputs.append(.undo(export: last.id))
        }
    }

    private static func way(using random: inout SimulatedRandom) -> WayIn {
        PhoneRequest.ways[Int.random(in: 0..<PhoneRequest.ways.count, using: &random)]
    }

    private static func retry(of sent: [Record], using random: inout SimulatedRandom) throws -> PhoneRequest {
        let first = Int.random(in: 0..<sent.count, using: &random)
        return try .push(Array(sent[first...].prefix(20)), by: way(using: &random))
    }

    /// How records come in for the first time.
    /// - Parameter sent: what came before.
    private static func requests(
        with part: [Record], after sent: [Record], using random: inout SimulatedRandom
    ) throws -> [PhoneRequest] {
        let usual = try PhoneRequest.samples(part)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return [try .push(part, by: way(using: &random))]
        // Several apps send the same at once.
        case 1: return try PhoneRequest.ways.map { try .push(part, by: $0) }
        // The connection broke, and the phone sends it again while the ingest is still busy with it.
        case 2: return [usual, usual]
        // Deletions, samples and what can't be understood are a part each.
        case 3, 4:
            let old = sent.isEmpty ? [] : [sent[Int.random(in: 0..<sent.count, using: &random)]]
            let mixed = try PhoneRequest.samples(
                part, deleted: old.compactMap(\.uuid), hasOdd: true, areLines: Bool.random(using: &random))
            return Bool.random(using: &random) ? [mixed] : [mixed, mixed]
        // A late retry comes while a newer request is on its way.
        case 5 where !sent.isEmpty: return [usual, try retry(of: sent, using: &random)]
        default: return [usual]
        }
    }

    /// A person enters something, and may change or remove it. What was removed isn't sent again after that, but by a
    /// phone that gave up waiting.
    private static func event(_ number: Int, using random: inout SimulatedRandom) throws -> [Input] {
        let id = "event-\(number)"
        let start = try SimulatedData.start() + .seconds(600 * number)
        let entry = PhoneRequest.addEvent(id, of: "coffee", at: start, Int64.random(in: 1...4, using: &random))
        var inputs: [Input] = [.requests([.addType("coffee")]), .requests([entry, entry])]
        if Bool.random(using: &random) { inputs.append(.requests([.changeEvent(id, to: 7)])) }
        if Int.random(in: 0..<3, using: &random) == 0 { inputs += [.requests([.removeEvent(id)]), .requests([entry])] }
        return inputs
    }

    /// A later export in which a person's watch has another name, and, if asked, neighbouring steps are one sample.
    private static func renamed(_ records: [Record], condensing: Bool) -> SimulatedFile {
        var made: [Record] = []
        for record in Set(records).sorted(by: { ($0.start, $0.type) < ($1.start, $1.type) }) {
            var record = record
            record.source = "Anna’s Watch"
            if condensing, record.type == SimulatedData.steps, var last = made.last, last.type == record.type {
                last.length = record.start + record.length - last.start
                last.value += record.value
                made[made.count - 1] = last
            } else {
                made.append(record)
            }
        }
        return SimulatedFile(id: "c0000000-0", user: "anna", batches: [Record.batch(made)])
    }
}

/// Sends a script to a simulated stack, through the ingest or as commands, and repeats each input until it is answered.
final class PhoneSender {
    /// What a phone does about one request of the current input.
    private struct Call {
        /// When it sends the request, if there is no answer by then.
        var at: MonotonicTime
        var isAnswered = false
    }

    private unowned let stack: SimulatedStack
    private let script: PhoneScript
    private var next = 0
    private var tries = 0
    /// Rises with each pass through the script.
    private(set) var pass = 1
    private var asked = MonotonicTime.distantPast
    private var began = MonotonicTime.distantPast
    /// By request of the current input.
    private var calls: [Call] = []
    /// Requests that the ingest has: with the call that waits for each, if one still does.
    private var flights: [(call: Int?, flight: PhoneFlight)] = []
    /// How many ids the ingest has given.
    private var ids = 0
    /// How long until the next input, at most, in microseconds.
    var pause: Int64 = 3_000_000
    /// Which pass's import is being undone.
    private var undoes = 1

    init(_ script: PhoneScript, to stack: SimulatedStack) {
        (self.script, self.stack) = (script, stack)
    }

    /// What a phone gave up waiting for may still arrive, and must have.
    var hasEnded: Bool { next == script.inputs.count && flights.isEmpty }

    /// Sends everything again from the beginning, as after a store was lost.
    func beginAgain() {
        (next, tries, undoes, calls) = (0, 0, 1, [])
        pass += 1
        asked = .distantPast
        for index in flights.indices { flights[index].call = nil }
    }

    func begin() { stack.world.schedule(.action { [unowned self] in try step() }, after: .milliseconds(50)) }

    private static let receipts = IngestReceipt.topic("ingest")

    func hear(_ message: Message) {
        guard message.topic == Self.receipts, let said = message.body.read(IngestReceipt.self) else { return }
        let world = stack.world
        if world.chance(world.faults.drop) { return }
        if world.chance(world.faults.duplicate) { hear(said, after: world.time(microseconds: 0...2_000_000)) }
        guard world.chance(world.faults.delay) else { return hear(said) }
        hear(said, after: world.time(microseconds: 0...3_000_000))
    }

    private func hear(_ receipt: IngestReceipt, after delay: Duration) {
        stack.world.schedule(.action { [unowned self] in hear(receipt) }, after: delay)
    }

    private func hear(_ receipt: IngestReceipt) {
        for index in flights.indices { flights[index].flight.hear(receipt, at: stack.world.monotonic) }
    }

    /// Of an undo.
    private var id: String { "request-\(pass)-\(next)-\(tries)-\(undoes)" }

    private func name(of export: String, in pass: Int) -> String { pass == 1 ? export : "\(export)-\(pass)" }

    private func step() throws {
        let world = stack.world
        moveFlights()
        if next < script.inputs.count, try isAnswered() {
            if case .undo = script.inputs[next], undoes < pass {
                // Whoever imported a file twice undoes both.
                undoes += 1
            } else {
                (next, undoes) = (next + 1, 1)
            }
            (tries, calls) = (0, [])
            asked = world.monotonic + world.time(microseconds: 0...pause)
            began = asked
        } else if next < script.inputs.count, world.monotonic >= asked {
            send(script.inputs[next])
        }
        begin()
    }

    private func send(_ input: PhoneScript.Input) {
        if case .requests(let requests) = input { return call(requests) }
        let world = stack.world
        if world.monotonic - began > .seconds(8) { (tries, began) = (tries + 1, world.monotonic) }
        world.send("control.observer", command(input), from: "command")
        asked = world.monotonic + .seconds(1)
    }

    private func command(_ input: PhoneScript.Input) -> Value {
        switch input {
        case .requests: return .null
        case .export(let file):
            return .object(
                ImportFile(id: name(of: file.id, in: pass), path: "/made/up/\(file.id)", user: file.user).body)
        case .undo(let export):
            var request = RepairRequest(id: id, action: "undo")
            request.import = name(of: export, in: undoes)
            return .object(request.body)
        case .zone(let zone, let from):
            return [
                "command": "zone", "user": "me", "from": .integer(from.microseconds), "action": "add",
                "zone": .string(zone),
            ]
        }
    }

    /// Each request of an input begins at a moment of its own.
    private func call(_ requests: [PhoneRequest]) {
        let world = stack.world
        let now = world.monotonic
        if calls.isEmpty { calls = requests.map { _ in Call(at: now + world.time(microseconds: 0...pause / 2)) } }
        for index in calls.indices where !calls[index].isAnswered && now >= calls[index].at {
            // A phone waits for a while, then closes the connection, which the ingest doesn't notice.
            for other in flights.indices where flights[other].call == index {
                flights[other].call = nil
                world.note("request given up by its phone")
            }
            flights.append((index, PhoneFlight(requests[index], at: now)))
            calls[index].at = now + (world.pick(0...1) == 0 ? .seconds(8) : .seconds(40))
        }
    }

    private func moveFlights() {
        let world = stack.world
        var left: [(call: Int?, flight: PhoneFlight)] = []
        for (call, before) in flights {
            var flight = before
            let step = flight.step(at: world.monotonic) {
                ids += 1
                return "request-\(ids)"
            }
            switch step {
            case .done: if let call { calls[call].isAnswered = true }
            // As long as the ingest asks for.
            case .failed(.silent): if let call { calls[call].at = world.monotonic + .seconds(5) }
            case .failed(.refused): if let call { calls[call].at = world.monotonic + .seconds(30) }
            case .begin, .send, nil: left.append((call, flight))
            }
            if case .send(let part, _) = step { world.send(IngestPart.topic("observer"), part.body, from: "ingest") }
        }
        flights = left
    }

    private func isAnswered() throws -> Bool {
        // While the observer's disk can't be read, nobody is answered.
        do { return try isDone() } catch is SQLiteError { return false }
    }

    private func isDone() throws -> Bool {
        switch script.inputs[next] {
        case .requests: return !calls.isEmpty && calls.allSatisfy(\.isAnswered)
        case .export(let file): return try stack.state(of: name(of: file.id, in: pass)) == "closed"
        case .undo:
            let repair = stack.observer.heartbeat?.stage.mending
            return repair?.id == id && repair?.state != .underWay
        case .zone(let zone, let from):
            guard let reader = stack.observer.reader else { return false }
            let find = try reader.prepare("SELECT zone FROM zone_settings WHERE user = 'me' AND moment = ?")
            find.bind(1, from.microseconds)
            return try find.firstRow { $0.string(0) } == zone
        }
    }
}
