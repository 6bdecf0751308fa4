import Foundation
import HealthModel
import Protocol
import SQLite
import Simulation

/// What phones and people send, one thing after the other: the next begins when the one before is durable. Sending
/// everything once more changes nothing.
struct PhoneScript {
    enum Input {
        case push([Record])
        case delete([SampleID])
        case export(SimulatedFile)
        case undo(export: String)
        case zone(String, from: Instant)
        /// A request with an item that can't be understood.
        case poison
    }

    var inputs: [Input] = []

    init(_ data: SimulatedData, seed: UInt64, using random: inout SimulatedRandom) {
        var number: UInt64 = 0
        var seen: Set<Record> = []
        var waiting = (data.records["me"] ?? []).filter { seen.insert($0).inserted }.map { record in
            number += 1
            var record = record
            record.uuid = SampleID(high: seed << 32 | number, low: 0x8000_0000_0000_0000 | number)
            return record
        }
        // A phone that was offline sends its newest samples first.
        if Int.random(in: 0..<4, using: &random) == 0 { waiting.reverse() }
        var sent: [Record] = []
        var exports = data.files
        var imported: [SimulatedFile] = []
        let renamed = Self.renamed(data.records["anna"] ?? [], condensing: Bool.random(using: &random))
        while !waiting.isEmpty || !exports.isEmpty {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3 where !waiting.isEmpty:
                let part = Array(waiting.prefix(Int.random(in: 10...80, using: &random)))
                waiting.removeFirst(part.count)
                sent += part
                inputs.append(.push(part))
            case 4 where !sent.isEmpty:
                let ids = (0..<Int.random(in: 1...3, using: &random))
                    .compactMap { _ in sent[Int.random(in: 0..<sent.count, using: &random)].uuid }
                inputs.append(.delete(ids))
            case 5:
                // It was never sent, or is sent only later.
                let unknown = waiting.first?.uuid ?? SampleID(high: seed, low: 1)
                inputs.append(.delete([Bool.random(using: &random) ? unknown : SampleID(high: seed, low: 2)]))
            case 6 where !sent.isEmpty:
                // A retry of an old request, late.
                let first = Int.random(in: 0..<sent.count, using: &random)
                inputs.append(.push(Array(sent[first...].prefix(20))))
            case 7 where !exports.isEmpty:
                let export = exports.removeFirst()
                imported.append(export)
                inputs.append(.export(export))
            case 8 where Int.random(in: 0..<4, using: &random) == 0:
                let moment = data.moments[Int.random(in: 0..<data.moments.count, using: &random)]
                let zones = ["America/New_York", "Asia/Tokyo", "Pacific/Apia", "Pacific/Honolulu", SimulatedData.zone]
                inputs.append(.zone(zones[Int.random(in: 0..<zones.count, using: &random)], from: moment))
            case 9 where Bool.random(using: &random): inputs.append(.poison)
            default: break
            }
        }
        if Bool.random(using: &random) { inputs.append(.export(renamed)) }
        if Int.random(in: 0..<3, using: &random) == 0, let last = imported.last {
            inputs.append(.undo(export: last.id))
        }
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

/// Sends a script to a simulated stack, and repeats each input until the observer has answered for it.
final class PhoneSender {
    private unowned let stack: SimulatedStack
    private let script: PhoneScript
    private var next = 0
    private var tries = 0
    /// Rises with each pass through the script.
    private(set) var pass = 1
    private var receipt: IngestReceipt?
    private var asked = MonotonicTime.distantPast
    private var began = MonotonicTime.distantPast
    /// How long until the next input, at most, in microseconds.
    var pause: Int64 = 3_000_000
    /// Which pass's import is being undone.
    private var undoes = 1

    init(_ script: PhoneScript, to stack: SimulatedStack) {
        (self.script, self.stack) = (script, stack)
    }

    var hasEnded: Bool { next == script.inputs.count }

    /// Sends everything again from the beginning, as after a store was lost.
    func beginAgain() {
        (next, tries, undoes, receipt) = (0, 0, 1, nil)
        pass += 1
        asked = .distantPast
    }

    func begin() { stack.world.schedule(.action { [unowned self] in try step() }, after: .milliseconds(50)) }

    func hear(_ message: Message) {
        guard message.topic == IngestReceipt.topic("ingest"), let said = message.body.read(IngestReceipt.self),
            said.id == id, said.part == 0, !stack.world.chance(stack.world.faults.drop)
        else { return }
        receipt = said
    }

    private var id: String { "request-\(pass)-\(next)-\(tries)-\(undoes)" }

    private func name(of export: String, in pass: Int) -> String { pass == 1 ? export : "\(export)-\(pass)" }

    private func step() throws {
        let world = stack.world
        if !hasEnded, try isAnswered() {
            if case .undo = script.inputs[next], undoes < pass {
                // Whoever imported a file twice undoes both.
                undoes += 1
            } else {
                (next, undoes) = (next + 1, 1)
            }
            (tries, receipt) = (0, nil)
            asked = world.monotonic + world.time(microseconds: 0...pause)
            began = asked
        } else if !hasEnded, world.monotonic >= asked {
            if receipt?.beginAgain == true || world.monotonic - began > .seconds(8) {
                // The ingest gives up after a while, and the phone sends a new request.
                (tries, receipt, began) = (tries + 1, nil, world.monotonic)
            }
            send(script.inputs[next])
            asked = world.monotonic + .seconds(1)
        }
        begin()
    }

    private func send(_ input: PhoneScript.Input) {
        var part = IngestPart(id: id, number: 0, user: "me", device: "phone", way: "/v1/samples")
        part.isLast = true
        switch input {
        case .push(let records): part.records = Record.batch(records)
        case .delete(let ids): part.deleted = ids
        case .poison: part.quarantined = [QuarantinedInput(line: 1, reason: "not a sample", raw: "{\"poison\":1}")]
        case .export(let file):
            let command = ImportFile(id: name(of: file.id, in: pass), path: "/made/up/\(file.id)", user: file.user)
            return stack.world.send("control.observer", .object(command.body), from: "command")
        case .undo(let export):
            var request = RepairRequest(id: id, action: "undo")
            request.import = name(of: export, in: undoes)
            return stack.world.send("control.observer", .object(request.body), from: "command")
        case .zone(let zone, let from):
            let body: Value = [
                "command": "zone", "user": "me", "from": .integer(from.microseconds), "action": "add",
                "zone": .string(zone),
            ]
            return stack.world.send("control.observer", body, from: "command")
        }
        stack.world.send(IngestPart.topic("observer"), part.body, from: "ingest")
    }

    private func isAnswered() throws -> Bool {
        // While the observer's disk can't be read, nobody is answered.
        do { return try isDone() } catch is SQLiteError { return false }
    }

    private func isDone() throws -> Bool {
        switch script.inputs[next] {
        case .push, .delete, .poison: return receipt.map { $0.beginAgain != true && $0.refused == nil } ?? false
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
