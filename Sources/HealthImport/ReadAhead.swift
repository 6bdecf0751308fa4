import Foundation

/// Reads and inflates on its own thread, a few blocks ahead of the parser.
final class ReadAhead: @unchecked Sendable {
    private static let blockCount = 4

    // Everything below is guarded by `condition`, except `reader`, which only the thread uses until it has finished.
    private let condition = NSCondition()
    private var reader: CleanReader
    private let blocks: [UnsafeMutableBufferPointer<UInt8>]
    private var free: [Int]
    private var ready: [Block] = []
    private var failure: (any Error)?
    private var finished = false
    private var cancelled = false

    struct Block {
        fileprivate let index: Int
        let bytes: UnsafeBufferPointer<UInt8>
        /// The position in the input file.
        let position: Int64
    }

    init(_ source: any ByteSource) {
        reader = CleanReader(source)
        blocks = (0..<Self.blockCount).map { _ in .allocate(capacity: CleanReader.blockSize) }
        free = Array(0..<Self.blockCount)
        let thread = Thread { self.run() }
        thread.name = "read-ahead"
        thread.start()
    }

    deinit { for block in blocks { block.deallocate() } }

    /// The next block; nil at the end. Errors from the source are thrown after all blocks that precede them.
    func next() throws -> Block? {
        condition.lock()
        defer { condition.unlock() }
        while ready.isEmpty && !finished { condition.wait() }
        if !ready.isEmpty { return ready.removeFirst() }
        if let failure { throw failure }
        return nil
    }

    /// Hands back a block so that it can be filled again.
    func recycle(_ block: Block) {
        condition.lock()
        free.append(block.index)
        condition.signal()
        condition.unlock()
    }

    /// Ends the thread and waits for it; after that, the source belongs to the caller again.
    /// - Returns: how many characters were replaced.
    @discardableResult
    func stop() -> Int64 {
        condition.lock()
        defer { condition.unlock() }
        cancelled = true
        condition.broadcast()
        while !finished { condition.wait() }
        return reader.replaced
    }

    private func run() {
        do {
            while let index = takeFree() {
                let count = try reader.read(into: blocks[index])
                if count == 0 { break }
                let bytes = UnsafeBufferPointer(rebasing: blocks[index][..<count])
                publish(Block(index: index, bytes: bytes, position: reader.position))
            }
            finish(nil)
        } catch {
            finish(error)
        }
    }

    private func takeFree() -> Int? {
        condition.lock()
        defer { condition.unlock() }
        while free.isEmpty && !cancelled { condition.wait() }
        return cancelled ? nil : free.removeLast()
    }

    private func publish(_ block: Block) {
        condition.lock()
        ready.append(block)
        condition.signal()
        condition.unlock()
    }

    private func finish(_ error: (any Error)?) {
        condition.lock()
        failure = error
        finished = true
        condition.broadcast()
        condition.unlock()
    }
}
