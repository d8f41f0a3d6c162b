// scf, cf, globals and calls.
// Written by cases_linalg.py.

func.func @for(%a: tensor<4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<[2.5019094944000244, 7.944275856018066, 5.513713836669922, -5.495856285095215]> : tensor<4xf32>]
} {
  %lo = arith.constant 0 : index
  %hi = arith.constant 10 : index
  %st = arith.constant 3 : index
  %0 = scf.for %i = %lo to %hi step %st iter_args(%v = %a) -> (tensor<4xf32>) {
    %1 = arith.addf %v, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @for_number(%a: i32) -> (i32) attributes {
    test.in = [dense<5> : tensor<i32>],
    test.out = [dense<10> : tensor<i32>]
} {
  %lo = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = scf.for %i = %lo to %a step %one iter_args(%v = %lo) -> (i32) : i32 {
    %1 = arith.addi %v, %i : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

func.func @if_true(%a: tensor<4xf32>, %b: i1) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<true> : tensor<i1>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %0 = scf.if %b -> (tensor<4xf32>) {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @if_false(%a: tensor<4xf32>, %b: i1) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<false> : tensor<i1>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  %0 = scf.if %b -> (tensor<4xf32>) {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @while(%a: tensor<4xf32>, %b: i32) -> (i32, tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<0> : tensor<i32>, dense<[3.002291202545166, 9.533130645751953, 6.616456985473633, -6.595027923583984]> : tensor<4xf32>]
} {
  %one = arith.constant 1 : i32
  %0:2 = scf.while (%i = %b, %v = %a) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%c) %i, %v : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %v: tensor<4xf32>):
    %1 = arith.subi %i, %one : i32
    %2 = arith.addf %v, %a : tensor<4xf32>
    scf.yield %1, %2 : i32, tensor<4xf32>
  }
  return %0#0, %0#1 : i32, tensor<4xf32>
}

func.func @index_switch(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<[-0.5003818869590759, -1.5888551473617554, -1.1027427911758423, 1.0991712808609009]> : tensor<4xf32>]
} {
  %i = arith.index_cast %b : i32 to index
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case 5 {
    %1 = arith.negf %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @index_switch_2(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<2> : tensor<i32>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  %i = arith.index_cast %b : i32 to index
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case 5 {
    %1 = arith.negf %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @index_switch_0(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<0> : tensor<i32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %i = arith.index_cast %b : i32 to index
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case 5 {
    %1 = arith.negf %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @index_switch_minus_3(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<-3> : tensor<i32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %i = arith.index_cast %b : i32 to index
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case 5 {
    %1 = arith.negf %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @index_switch_6(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<6> : tensor<i32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  %i = arith.index_cast %b : i32 to index
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case 5 {
    %1 = arith.negf %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  default {
    %1 = arith.addf %a, %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

func.func @forall(%a: tensor<4x3xf32>) -> (tensor<4x3xf32>) attributes {
    test.in = [dense<[[-0.7993348836898804, 1.4942138195037842, -1.9789388179779053], [1.2849136590957642, 1.1882777214050293, -0.12826019525527954], [-0.7878702878952026, -0.8862975239753723, -0.9805216789245605], [-0.21969477832317352, 0.018193036317825317, 0.21398940682411194]]> : tensor<4x3xf32>],
    test.out = [dense<[[-1.5986697673797607, 2.9884276390075684, -3.9578776359558105], [2.5698273181915283, 2.3765554428100586, -0.2565203905105591], [-1.5757405757904053, -1.7725950479507446, -1.961043357849121], [-0.43938955664634705, 0.036386072635650635, 0.4279788136482239]]> : tensor<4x3xf32>]
} {
  %0 = scf.forall (%i, %j) in (4, 3) shared_outs(%o = %a) -> (tensor<4x3xf32>) {
    %1 = tensor.extract_slice %a[%i, %j] [1, 1] [1, 1] : tensor<4x3xf32> to tensor<1x1xf32>
    %2 = arith.addf %1, %1 : tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %2 into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<4x3xf32>
    }
  }
  return %0 : tensor<4x3xf32>
}

func.func @branches(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<[1.0015281438827515, 10.097843170166016, 4.864166736602783, 4.832709789276123]> : tensor<4xf32>]
} {
  %c0 = arith.constant 0 : i32
  %c = arith.cmpi sgt, %b, %c0 : i32
  cf.cond_br %c, ^bb1(%a : tensor<4xf32>), ^bb2
  ^bb1(%v: tensor<4xf32>):
  %1 = arith.addf %v, %a : tensor<4xf32>
  cf.br ^bb3(%1 : tensor<4xf32>)
  ^bb2:
  %2 = arith.negf %a : tensor<4xf32>
  cf.br ^bb3(%2 : tensor<4xf32>)
  ^bb3(%r: tensor<4xf32>):
  %3 = arith.mulf %r, %r : tensor<4xf32>
  return %3 : tensor<4xf32>
}

func.func @branches_return(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<[-0.5003818869590759, -1.5888551473617554, -1.1027427911758423, 1.0991712808609009]> : tensor<4xf32>]
} {
  %c0 = arith.constant 9 : i32
  %c = arith.cmpi sgt, %b, %c0 : i32
  cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
  return %a : tensor<4xf32>
  ^bb2:
  %2 = arith.negf %a : tensor<4xf32>
  return %2 : tensor<4xf32>
}

func.func @branch_loop(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>, i32) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<[2.0015275478363037, 6.3554205894470215, 4.410971164703369, -4.3966851234436035]> : tensor<4xf32>, dense<5> : tensor<i32>]
} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0, %a : i32, tensor<4xf32>)
  ^head(%i: i32, %v: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %b : i32
  %w = arith.addf %v, %a : tensor<4xf32>
  cf.cond_br %c, ^body, ^exit
  ^body:
  %odd = arith.andi %i, %c1 : i32
  %o = arith.cmpi eq, %odd, %c1 : i32
  cf.cond_br %o, ^next(%w : tensor<4xf32>), ^next(%v : tensor<4xf32>)
  ^next(%u: tensor<4xf32>):
  %j = arith.addi %i, %c1 : i32
  cf.br ^head(%j, %u : i32, tensor<4xf32>)
  ^exit:
  return %w, %i : tensor<4xf32>, i32
}

func.func @do_while(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<5> : tensor<i32>],
    test.out = [dense<[3.002291202545166, 9.533130645751953, 6.616456985473633, -6.595027923583984]> : tensor<4xf32>]
} {
  %c1 = arith.constant 1 : i32
  cf.br ^body(%b, %a : i32, tensor<4xf32>)
  ^body(%i: i32, %v: tensor<4xf32>):
  %w = arith.addf %v, %a : tensor<4xf32>
  %j = arith.subi %i, %c1 : i32
  %c = arith.cmpi sge, %j, %c1 : i32
  cf.cond_br %c, ^body(%j, %w : i32, tensor<4xf32>), ^exit
  ^exit:
  return %w : tensor<4xf32>
}

func.func @switch_3(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<3> : tensor<i32>],
    test.out = [dense<[-0.5003818869590759, -1.5888551473617554, -1.1027427911758423, 1.0991712808609009]> : tensor<4xf32>]
} {
  cf.switch %b : i32, [
    default: ^bb1(%a : tensor<4xf32>),
    3: ^bb2,
    7: ^bb3
  ]
  ^bb2:
  %1 = arith.negf %a : tensor<4xf32>
  cf.br ^bb1(%1 : tensor<4xf32>)
  ^bb3:
  %2 = arith.addf %a, %a : tensor<4xf32>
  cf.br ^bb1(%2 : tensor<4xf32>)
  ^bb1(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

func.func @switch_7(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<7> : tensor<i32>],
    test.out = [dense<[1.0007637739181519, 3.1777102947235107, 2.2054855823516846, -2.1983425617218018]> : tensor<4xf32>]
} {
  cf.switch %b : i32, [
    default: ^bb1(%a : tensor<4xf32>),
    3: ^bb2,
    7: ^bb3
  ]
  ^bb2:
  %1 = arith.negf %a : tensor<4xf32>
  cf.br ^bb1(%1 : tensor<4xf32>)
  ^bb3:
  %2 = arith.addf %a, %a : tensor<4xf32>
  cf.br ^bb1(%2 : tensor<4xf32>)
  ^bb1(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

func.func @switch_1(%a: tensor<4xf32>, %b: i32) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>, dense<1> : tensor<i32>],
    test.out = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>]
} {
  cf.switch %b : i32, [
    default: ^bb1(%a : tensor<4xf32>),
    3: ^bb2,
    7: ^bb3
  ]
  ^bb2:
  %1 = arith.negf %a : tensor<4xf32>
  cf.br ^bb1(%1 : tensor<4xf32>)
  ^bb3:
  %2 = arith.addf %a, %a : tensor<4xf32>
  cf.br ^bb1(%2 : tensor<4xf32>)
  ^bb1(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

func.func @globals(%a: tensor<4xf32>) -> (tensor<4xf32>) attributes {
    test.in = [dense<[0.5003818869590759, 1.5888551473617554, 1.1027427911758423, -1.0991712808609009]> : tensor<4xf32>],
    test.out = [dense<[1.5003819465637207, 4.17771053314209, 4.308228492736816, -3.3966851234436035]> : tensor<4xf32>]
} {
  %0 = util.global.load @weight : tensor<4xf32>
  %1 = ml_program.global_load_const @bias : tensor<4xf32>
  %2 = arith.mulf %a, %0 : tensor<4xf32>
  %3 = arith.addf %2, %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
util.global private @weight = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
ml_program.global private @bias(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
