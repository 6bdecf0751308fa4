import HealthModel
import Inspection
import Logging
import Synchronization
import Terminal
import Testing

@Suite struct RowOutputTests {
    private final class Receiver: Sendable {
        let bytes = Mutex<[UInt8]>([])
        let largest = Mutex(0)
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }

    private func written(
        _ format: RowOutput.Format, _ columns: [String] = ["a", "b"], _ body: (RowOutput) throws -> Void
    ) throws -> String {
        let receiver = Receiver()
        let output = RowOutput(columns, format) { bytes in
            receiver.bytes.withLock { $0 += bytes }
            return true
        }
        try body(output)
        try output.finish()
        return receiver.text
    }

    private func twoRows(_ output: RowOutput) throws {
        output.integer(1_234_567)
        output.text("Anna’s \"Watch\", old")
        try output.endRow()
        output.null()
        output.text("")
        try output.endRow()
    }

    @Test func csv() throws {
        #expect(try written(.csv) { try twoRows($0) } == "a,b\n1234567,\"Anna’s \"\"Watch\"\", old\"\n,\"\"\n")
        #expect(try written(.csv) { _ in } == "a,b\n")
        let odd = try written(.csv, ["a,\"b"]) { output in
            output.text("two\nlines")
            try output.endRow()
            output.text(" = 1 ")
            try output.endRow()
            output.json("{\"a\":1}")
            try output.endRow()
        }
        #expect(odd == "\"a,\"\"b\"\n\"two\nlines\"\n = 1 \n\"{\"\"a\"\":1}\"\n")
    }

    @Test func json() throws {
        let text = try written(.json) { try twoRows($0) }
        #expect(
            try Value(json: text.utf8) == [["a": 1_234_567, "b": "Anna’s \"Watch\", old"], ["a": .null, "b": ""]])
        #expect(try written(.json) { _ in } == "[]\n")
        #expect(try written(.lines) { try twoRows($0) }.split(separator: "\n").count == 2)
        let all = try written(.lines, ["n", "d", "t", "i", "j", "x"]) { output in
            output.number(-0.25)
            output.boolean(true)
            output.moment(Instant(microseconds: 1_743_315_300_250_000))
            output.uuid(SampleID(high: 0x0195_e5b0_6ea0_8abc, low: 0x8def_0123_4567_89ab))
            output.json("[1]")
            output.number(.nan)
            try output.endRow()
        }
        #expect(
            all == "{\"n\":-0.25,\"d\":true,\"t\":\"2025-03-30T06:15:00.25Z\","
                + "\"i\":\"0195e5b0-6ea0-8abc-8def-0123456789ab\",\"j\":[1],\"x\":null}\n")
    }

    @Test func table() throws {
        let plain = Terminal(isTerminal: false)
        let text = try written(.table(plain)) { output in
            for (number, name) in [(5, "b"), (12, "c\u{1B}[31m")] {
                output.integer(Int64(number))
                output.text(name)
                try output.endRow()
            }
        }
        #expect(text == " a  b\n 5  b\n12  c [31m\n")
        #expect(try written(.table(plain)) { _ in } == "")
        // A table of any length is printed as its rows arrive; the widths of its columns come from the first rows.
        let long = try written(.table(plain)) { output in
            for number in 0..<2000 {
                output.integer(Int64(number))
                output.text("x")
                try output.endRow()
            }
        }
        #expect(long.split(separator: "\n").count == 2001 && long.hasSuffix("1999  x\n"))
    }

    /// No matter how many rows there are, no more than one buffer is held in memory.
    @Test func rowsGoOutAsTheyCome() throws {
        let receiver = Receiver()
        let output = RowOutput(["a"], .csv) { bytes in
            receiver.largest.withLock { $0 = max($0, bytes.count) }
            return true
        }
        for number in 0..<200_000 {
            output.integer(Int64(number))
            try output.endRow()
        }
        try output.finish()
        #expect(receiver.largest.withLock { $0 } < 70_000)
    }

    @Test func aReaderThatIsGoneEndsIt() throws {
        let output = RowOutput(["a"], .csv) { _ in false }
        output.integer(1)
        try output.endRow()
        #expect(throws: Failure.self) { try output.finish() }
    }
}

extension RowOutput {
    fileprivate func json(_ text: String) { Array(text.utf8).withUnsafeBytes { json($0) } }
}
