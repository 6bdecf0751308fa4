import HealthModel
import Protocol
import TestSupport
import Testing

@Suite struct MessageTests {
    private let message = Message(
        topic: "observed.HKQuantityTypeIdentifierStepCount",
        header: .init(from: "observer", at: 1_735_689_600_000_000, other: ["trace": ["a": 1]]),
        body: ["sequence": 12, "new": .bytes([1, 2])])

    private func error(_ frames: [[UInt8]]) -> MessageError? {
        do throws(MessageError) {
            _ = try Message(frames: frames)
            return nil
        } catch { return error }
    }

    private func header(_ members: [String: Value]) -> [[UInt8]] {
        [Array("t".utf8), CBOREncoder.encode(.object(members)), []]
    }

    private let whole: [String: Value] = ["from": "a", "at": 1, "v": [1, 0]]

    @Test func comesBackAsItWasWithFieldsThatItDoesNotKnow() throws {
        let back = try Message(frames: message.frames)
        #expect(back == message)
        #expect(back.header.other["trace"] == ["a": 1])
        #expect(back.frames == message.frames)
    }

    @Test func anEmptyBodyIsNull() throws {
        let hello = Message(topic: "control.hello", header: .init(from: "tool", at: 1))
        #expect(hello.frames[2].isEmpty)
        #expect(try Message(frames: hello.frames).body.isNull)
        #expect(try Message(frames: [hello.frames[0], hello.frames[1], [0xF6]]).body.isNull)
    }

    @Test func hasThreeFrames() {
        for count in [0, 1, 2, 4, 9] {
            #expect(error(Array(repeating: [0x61], count: count)) == .frames(count))
        }
    }

    @Test func itsTopicIsText() {
        #expect(error([[], message.frames[1], []]) == .topic)
        #expect(error([[0xFF, 0xFE], message.frames[1], []]) == .topic)
    }

    @Test func itsHeaderSaysWhoWhenAndWhichVersion() {
        #expect(error(header(whole)) == nil)
        for name in whole.keys {
            var less = whole
            less[name] = nil
            #expect(error(header(less)) == .header(topic: "t"), "without \(name)")
            less[name] = .bool(true)
            #expect(error(header(less)) == .header(topic: "t"), "\(name) ill-typed")
        }
        for version: Value in [[1], [1, 0, 0], ["1", 0], [1, "0"], 1] {
            #expect(error(header(whole.merging(["v": version]) { $1 })) == .header(topic: "t"))
        }
        #expect(error([Array("t".utf8), CBOREncoder.encode([1, 2]), []]) == .header(topic: "t"))
        #expect(error([Array("t".utf8), [], []]) == .content(topic: "t", .truncated(at: 0)))
    }

    @Test func anotherMajorVersionIsRefusedByName() {
        let theirs = header(whole.merging(["v": [2, 3]]) { $1 })
        #expect(error(theirs) == .version(topic: "t", from: "a", theirs: ProtocolVersion(major: 2, minor: 3)))
        let text = error(theirs)?.description ?? ""
        #expect(text.contains("2.3") && text.contains("1.0") && text.contains("'t'") && text.contains("a"))
    }

    @Test func anotherMinorVersionIsReadAndKept() throws {
        let newer = try Message(frames: header(whole.merging(["v": [1, 7], "more": "x"]) { $1 }))
        #expect(newer.header.version == ProtocolVersion(major: 1, minor: 7))
        #expect(try Message(frames: newer.frames) == newer)
    }

    @Test func framesHaveALargestSize() {
        let large = [UInt8](repeating: 0, count: Message.maximumFrame + 1)
        #expect(error([Array("t".utf8), large, []]) == .tooLarge(topic: "t", bytes: large.count))
        #expect(error([Array("t".utf8), header(whole)[1], large]) == .tooLarge(topic: "t", bytes: large.count))
        // A frame of the maximum size is refused for its content, not for its size.
        let most = [UInt8](repeating: 0, count: Message.maximumFrame)
        #expect(error([Array("t".utf8), header(whole)[1], most]) == .content(topic: "t", .trailingBytes(at: 1)))
    }

    @Test func aBodyThatIsNotCBORIsRefused() {
        #expect(error([Array("t".utf8), header(whole)[1], [0x61]]) == .content(topic: "t", .truncated(at: 0)))
        #expect(error([Array("t".utf8), header(whole)[1], [0xFF]]) == .content(topic: "t", .unsupported(at: 1)))
    }

    /// Errors go into logs: they name the topic and the place, but never the content of a message.
    @Test func errorsDoNotRepeatContents() {
        let secret = Value.object(["value": "71 bpm"])
        let broken = Array(CBOREncoder.encode(secret).dropLast())
        let text = error([Array("t".utf8), header(whole)[1], broken])?.description ?? ""
        #expect(text.contains("'t'") && !text.contains("71"))
    }
}
